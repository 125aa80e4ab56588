import { afterEach, expect, it } from "vitest";
import { schedulerLimits } from "../../../runner/schedule/scheduler.ts";
import { SourceQueues } from "../../../runner/schedule/source-queues.ts";
import { largeBacklog, positionAt } from "../support.ts";

/** Places for branches of a run, beside those of queues. */
const started: SourceQueues[] = [];
afterEach(async () => {
  for (const queues of started.splice(0)) await queues.stop(AbortSignal.abort());
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs of sources that end when the test says so; a source's owner is its first letter. */
function queuesOf(maxOwnerRuns: number, maxRuns = 100) {
  const running = new Map<string, () => void>();
  const queues = new SourceQueues({
    limits: { ...schedulerLimits(1, maxOwnerRuns), maxRuns },
    backlog: largeBacklog(),
    ownerOf: ({ invocation: { source } }) => source.slice(0, 1),
    now: () => performance.now(),
  });
  queues.start({
    handle: ({ invocation: { source } }) => new Promise((resolve) => running.set(source, () => resolve("finished"))),
  });
  started.push(queues);
  const push = (source: string, seq: number): void =>
    queues.push({
      received: { invocation: { source, trigger: "http" }, position: positionAt(seq), storedAt: 0 },
      bytes: 1,
      settle: () => undefined,
    });
  const granted: string[] = [];
  const ask = (queue: string, owner: string) => {
    const place = queues.places.ask(queue, owner);
    void place.granted.then(() => granted.push(place.queue));
    return place;
  };
  return { queues, running, push, ask, granted };
}

it("are granted within the runs that an owner may have, each when another one ends", async () => {
  const { running, push, ask, granted, queues } = queuesOf(2);
  push("a1", 1);
  const first = ask("a1", "a");
  ask("a1", "a");
  await turn();
  expect([[...running.keys()], granted]).toEqual([["a1"], ["a1#1"]]);
  expect(queues.counts()).toMatchObject({ running: 2, waiting: 0 });
  first.leave();
  await turn();
  expect(granted).toEqual(["a1#1", "a1#2"]);
});

it("wait behind other owners as queues do", async () => {
  const { push, ask, granted, running } = queuesOf(100, 4);
  push("a1", 1);
  for (let n = 0; n < 20; n++) ask("a1", "a");
  push("b1", 2);
  await turn();
  expect([granted, [...running.keys()]]).toEqual([["a1#1"], ["a1", "b1"]]);
});

it("are not granted any more after they were left", async () => {
  const { push, ask, granted } = queuesOf(2);
  push("a1", 1);
  const [held, given] = [ask("a1", "a"), ask("a1", "a")];
  await turn();
  given.leave();
  held.leave();
  held.leave();
  await turn();
  expect(granted).toEqual(["a1#1"]);
  ask("a1", "a");
  await turn();
  expect(granted).toEqual(["a1#1", "a1#3"]);
});
