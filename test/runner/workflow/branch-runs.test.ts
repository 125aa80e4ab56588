import { expect, it } from "vitest";
import { BranchRuns } from "../../../runner/workflow/branch-runs.ts";
import type { Attempted } from "../../../runner/workflow/next-commit.ts";

/** Places that the test grants. */
function placesOf() {
  const asked = new Map<string, () => void>();
  const left: string[] = [];
  const ask = (of: string) => {
    const queue = `${of}#${asked.size + 1}`;
    const { promise: granted, resolve } = Promise.withResolvers<void>();
    asked.set(queue, resolve);
    return { queue, granted, leave: () => void left.push(queue) };
  };
  return { asked, left, places: { ask } };
}

/** Executions that end when the test says so. */
function executions(runs: BranchRuns) {
  const ends = new Map<number, (error?: Error) => void>();
  const queues = new Map<number, string>();
  const start = (branch: number): void =>
    runs.start(branch, async (queue) => {
      queues.set(branch, queue);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      ends.set(branch, (error) => (error === undefined ? resolve() : reject(error)));
      await promise;
      return { branch } as unknown as Attempted; // Nothing else is read.
    });
  return { start, queues, end: (branch: number, error?: Error) => ends.get(branch)?.(error) };
}

const now = (): number => 0;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("lets one execution have the place of its run, and the others those that are granted", async () => {
  const { asked, left, places } = placesOf();
  const runs = new BranchRuns("p_1.r_1", "u_1", places);
  const { start, queues, end } = executions(runs);
  for (const branch of [1, 2, 3]) start(branch);
  await turn();
  expect([...queues]).toEqual([[1, "p_1.r_1"]]);
  asked.get("p_1.r_1#2")?.();
  await turn();
  expect(queues.get(3)).toBe("p_1.r_1#2");
  end(3);
  expect(await runs.next(undefined, now)).toMatchObject({ branch: 3 });
  expect(left).toEqual(["p_1.r_1#2"]);
});

it("goes on with the place of the run alone, if no other is granted", async () => {
  const { left, places } = placesOf();
  const runs = new BranchRuns("p_1.r_1", "u_1", places);
  const { start, queues, end } = executions(runs);
  for (const branch of [1, 2, 3]) start(branch);
  for (const branch of [1, 2, 3]) {
    await turn();
    expect(queues.get(branch)).toBe("p_1.r_1");
    end(branch);
    expect(await runs.next(undefined, now)).toMatchObject({ branch });
  }
  expect([left, runs.size]).toEqual([["p_1.r_1#1", "p_1.r_1#2"], 0]);
});

it("gathers what ends until all have, or so many, or for so long", async () => {
  const { places } = placesOf();
  const started = async () => {
    const runs = new BranchRuns("p_1.r_1", "u_1", { ask: (of) => ({ ...places.ask(of), granted: Promise.resolve() }) });
    const { start, end } = executions(runs);
    for (const branch of [1, 2, 3]) start(branch);
    await turn();
    end(1);
    expect(await runs.next(undefined, now)).toMatchObject({ branch: 1 });
    return { runs, end };
  };
  const longMs = 3_600_000;
  const all = await started();
  const gathered = all.runs.gather(10, longMs);
  all.end(2);
  await turn();
  all.end(3);
  await gathered;
  expect(all.runs.alsoEnded).toHaveLength(2);

  const some = await started();
  setImmediate(() => some.end(3));
  await some.runs.gather(1, longMs);
  expect(some.runs.alsoEnded).toHaveLength(1);

  const none = await started();
  await none.runs.gather(10, 1);
  await none.runs.gather(10, 0);
  expect(none.runs.alsoEnded).toHaveLength(0);
  none.end(2);
  expect(await none.runs.next(undefined, now)).toMatchObject({ branch: 2 });
  // Beside a slow branch, each of many short steps would wait in vain.
  await none.runs.gather(10, longMs);
});

it("begins nothing after it was withdrawn or abandoned, and waits for what is executed", async () => {
  const { asked, left, places } = placesOf();
  const runs = new BranchRuns("p_1.r_1", "u_1", places);
  const { start, queues, end } = executions(runs);
  for (const branch of [1, 2, 3]) start(branch);
  runs.withdraw();
  asked.get("p_1.r_1#1")?.();
  await turn();
  expect([[...queues.keys()], runs.started, left]).toEqual([[1], [1], ["p_1.r_1#1", "p_1.r_1#2"]]);
  start(4);
  let isLeft = false;
  const abandoned = runs.abandon().then(() => (isLeft = true));
  await turn();
  expect(isLeft).toBe(false);
  end(1);
  await abandoned;
  expect([...queues.keys()]).toEqual([1]);
});

it("says why an execution could not be started, and that none has ended in time", async () => {
  const runs = new BranchRuns("p_1.r_1", "u_1", placesOf().places);
  const { start, end } = executions(runs);
  start(1);
  await turn();
  expect(await runs.next(1, now)).toBeUndefined();
  end(1, new Error("no bundle"));
  expect(await runs.next(undefined, now)).toEqual({ branch: 1, error: new Error("no bundle") });
});

it("shows what else has ended, up to what could not be started, until that is committed", async () => {
  const { asked, places } = placesOf();
  const runs = new BranchRuns("p_1.r_1", "u_1", places);
  const { start, end } = executions(runs);
  for (const branch of [1, 2, 3, 4, 5]) start(branch);
  for (const grant of asked.values()) grant();
  await turn();
  for (const branch of [1, 2, 3]) end(branch);
  end(4, new Error("no bundle"));
  end(5);
  expect(await runs.next(undefined, now)).toMatchObject({ branch: 1 });
  await turn();
  expect([runs.alsoEnded.map(({ branch }) => branch), runs.started]).toEqual([
    [2, 3],
    [2, 3, 4, 5],
  ]);
  runs.committed(1);
  expect([runs.alsoEnded.map(({ branch }) => branch), runs.started]).toEqual([[3], [3, 4, 5]]);
  expect(await runs.next(undefined, now)).toMatchObject({ branch: 3 });
  expect(runs.alsoEnded).toEqual([]);
});
