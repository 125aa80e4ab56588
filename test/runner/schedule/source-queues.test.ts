import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { defaultBacklogLimits } from "../../../domain/limits/admission.ts";
import type { Invocation } from "../../../domain/invocation/invocation.ts";
import { Backlog } from "../../../runner/schedule/backlog.ts";
import { schedulerLimits } from "../../../runner/schedule/scheduler.ts";
import type { InvocationResult } from "../../../runner/handle-invocation.ts";
import type { ReceivedInvocation } from "../../../runner/run/received.ts";
import { largeBacklog, positionAt } from "../support.ts";
import type { InvocationRunner, QueueOptions } from "../../../runner/schedule/queue-options.ts";
import { SourceQueues } from "../../../runner/schedule/source-queues.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";

const received = (source: string, seq: number, trigger: Invocation["trigger"] = "http", chain?: string) => ({
  invocation: { source, trigger, ...(chain === undefined ? {} : { chain }) },
  position: positionAt(seq),
  storedAt: 0,
});

const limits = schedulerLimits(1, 100);
const started: SourceQueues[] = [];
afterEach(async () => {
  for (const queues of started.splice(0)) await queues.stop(AbortSignal.abort());
});

function queuesOf(handle: InvocationRunner["handle"], options: Partial<QueueOptions> = {}): SourceQueues {
  const queues = new SourceQueues({
    limits,
    backlog: largeBacklog(),
    ownerOf: () => "u_1",
    now: () => performance.now(),
    ...options,
  });
  queues.start({ handle });
  started.push(queues);
  return queues;
}

/** Queues whose runs end when the test says so. */
function manualQueues() {
  const running: { received: ReceivedInvocation; end: (result?: InvocationResult) => void }[] = [];
  const queues = queuesOf(
    (entry) => new Promise((resolve) => running.push({ received: entry, end: (result = "finished") => resolve(result) })),
  );
  const settled: string[] = [];
  const push = (source: string, seq: number, trigger?: Invocation["trigger"], chain?: string) =>
    queues.push({
      received: received(source, seq, trigger, chain),
      bytes: 100,
      settle: (settlement) => settled.push(`${seq} ${settlement}`),
    });
  return { queues, running, settled, push };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("SourceQueues", () => {
  /** Method: random arrivals and ends. Compares the order of each source's runs with the order of its arrivals. */
  it("runs one invocation of a source at a time, in order of arrival", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 30 }),
        fc.infiniteStream(fc.nat(9)),
        async (sources, choices) => {
          const started: Record<string, number[]> = {};
          let active: string[] = [];
          const ends: (() => void)[] = [];
          const queues = queuesOf(async ({ invocation: { source }, position }) => {
            expect(active).not.toContain(source);
            active.push(source);
            (started[source] ??= []).push(position.seq);
            await new Promise<void>((resolve) => ends.push(resolve));
            active = active.filter((other) => other !== source);
            return "finished";
          });
          for (const [seq, source] of sources.entries())
            queues.push({ received: received(source, seq), bytes: 100, settle: () => undefined });
          while (queues.size > 0) {
            await turn();
            ends.splice((choices.next().value ?? 0) % Math.max(1, ends.length), 1)[0]?.();
            await turn();
          }
          for (const source of new Set(sources)) expect(started[source]).toEqual(sources.flatMap((s, seq) => (s === source ? [seq] : [])));
        },
      ),
      { numRuns: 30 },
    );
  });

  it("runs hooks before other queued invocations, and those in order", async () => {
    const { running, push } = manualQueues();
    for (const [seq, trigger] of (["event", "event", "event", "hook", "hook"] as const).entries()) push("a", seq, trigger);
    for (let run = 0; run < 5; run++) {
      running[run]?.end();
      await turn();
    }
    expect(running.map(({ received: { position } }) => position.seq)).toEqual([0, 3, 4, 1, 2]);
  });

  it("skips a tick while another tick is queued, and reports the skipped ticks to the next run", async () => {
    const { running, settled, push } = manualQueues();
    for (const seq of [1, 2, 3, 4]) push("a", seq, "timer");
    expect(settled).toEqual(["3 finished", "4 finished"]);
    running[0]?.end();
    await turn();
    expect(running[1]?.received).toMatchObject({ position: { seq: 2 }, skippedTicks: 2 });
    expect(running[1]?.received.skippedDue).toHaveLength(2);
  });

  it("skips no link of a chain, because each arms the next", () => {
    const { settled, push } = manualQueues();
    for (const seq of [1, 2, 3, 4]) push("a", seq, "timer", "timer");
    expect(settled).toEqual([]);
  });

  it("releases queued invocations when it stops, and running ones when the signal aborts", async () => {
    const { queues, settled, push } = manualQueues();
    push("a", 1);
    push("a", 2);
    const time = new AbortController();
    const stopped = queues.stop(time.signal);
    expect(settled).toEqual(["2 released"]);
    time.abort();
    await stopped;
    expect(settled).toEqual(["2 released", "1 released"]);
    push("a", 3);
    expect(settled).toContain("3 released");
  });

  it("retries a failed invocation before later ones of its source, and runs other sources in the meantime", async () => {
    const { running, settled, push } = manualQueues();
    push("a", 1);
    push("a", 2);
    running[0]?.end("retry");
    await turn();
    push("b", 3);
    expect(running.map(({ received: { position } }) => position.seq)).toEqual([1, 3]);
    await expect.poll(() => running.length).toBe(3);
    expect([running[2]?.received.position.seq, running[2]?.received.failures, settled]).toEqual([1, 1, []]);
    running[2]?.end();
    await turn();
    expect([running[3]?.received.position.seq, settled]).toEqual([2, ["1 finished"]]);
  });

  it("keeps the queue of a paused source until the source changes, and runs its hooks and other sources in the meantime", async () => {
    const { queues, running, settled, push } = manualQueues();
    for (const seq of [1, 2]) push("a", seq);
    running[0]?.end("paused");
    await turn();
    push("b", 3);
    push("a", 4);
    expect(running.map(({ received: { position } }) => position.seq)).toEqual([1, 3]);
    queues.resume("b");
    expect(running).toHaveLength(2);
    queues.resume("a");
    expect([running[2]?.received.position.seq, running[2]?.received.failures]).toEqual([1, 0]);
    running[2]?.end("paused");
    await turn();
    push("a", 5, "hook");
    expect(running[3]?.received.position.seq).toBe(5);
    queues.resume(undefined);
    running[3]?.end();
    await turn();
    for (const run of [4, 5, 6]) {
      running[run]?.end();
      await turn();
    }
    expect([running.slice(4).map(({ received: { position } }) => position.seq), settled.slice(1)]).toEqual([
      [1, 2, 4],
      ["1 finished", "2 finished", "4 finished"],
    ]);
  });

  it("tries again at once if the source changed while an invocation found it paused", async () => {
    const { queues, running, push } = manualQueues();
    push("a", 1);
    queues.resume("a");
    running[0]?.end("paused");
    await turn();
    expect(running).toHaveLength(2);
  });

  it("refuses callers of a paused source, but not those of one that starts", async () => {
    const ends: ((result: InvocationResult) => void)[] = [];
    const refused: string[] = [];
    const queues = queuesOf(() => new Promise((resolve) => ends.push(resolve)), {
      hasCaller: ({ invocation }) => invocation.answerTo !== undefined,
      refuse: ({ answerTo = "" }, _owner, reason) => refused.push(`${answerTo} ${reason}`),
    });
    const call = (seq: number): void => {
      const { invocation, ...rest } = received("a", seq);
      queues.push({ received: { ...rest, invocation: { ...invocation, answerTo: `caller ${seq}` } }, bytes: 1, settle: () => undefined });
    };
    for (const seq of [1, 2]) call(seq);
    ends[0]?.("starting");
    await turn();
    expect(refused).toEqual([]);
    queues.push({ received: received("a", 3), bytes: 1, settle: () => undefined });
    queues.resume("a");
    ends[1]?.("paused");
    await turn();
    call(4);
    expect([refused, queues.size]).toEqual([["caller 1 paused", "caller 2 paused", "caller 4 paused"], 1]);
  });

  it("gives way with the oldest work of a paused source while its backlog is full", async () => {
    const handled: string[] = [];
    const queues = queuesOf(
      async ({ position, hasRoom }) => {
        handled.push(`${position.seq} ${hasRoom?.() === true ? "kept" : "ended"}`);
        return hasRoom?.() === true ? "paused" : "finished";
      },
      { backlog: new Backlog({ ...defaultBacklogLimits, sourceInvocations: 8, totalBytes: 2 ** 20 }) },
    );
    for (let seq = 1; seq <= 9; seq++) {
      queues.push({ received: received("a", seq), bytes: 1, settle: () => undefined });
      await turn();
    }
    await turn();
    expect([handled.filter((text) => text.endsWith("ended")), queues.size]).toEqual([["1 ended", "2 ended"], 7]);
  });

  it("releases a partition once none of its sources runs, and continues with other partitions", async () => {
    const { queues, running, settled, push } = manualQueues();
    const other = Array.from({ length: 100 }, (_, n) => `b${n}`).find((id) => partitionOf(id) !== partitionOf("a")) ?? "";
    for (const [seq, source] of ["a", "a", other, other].entries()) push(source, seq);
    let isReleased = false;
    const released = queues.release(partitionOf("a")).then(() => (isReleased = true));
    await turn();
    expect([settled, isReleased]).toEqual([["1 released"], false]);
    running.find(({ received: { invocation } }) => invocation.source === "a")?.end();
    await released;
    running.find(({ received: { invocation } }) => invocation.source === other)?.end();
    await turn();
    expect([settled, queues.size]).toEqual([["1 released", "0 finished", "2 finished"], 1]);
  });

  it("releases an invocation that fails while its partition is being released", async () => {
    const { queues, running, settled, push } = manualQueues();
    push("a", 1);
    const released = queues.release(partitionOf("a"));
    running[0]?.end("retry");
    await released;
    expect([settled, queues.size]).toEqual([["1 released"], 0]);
  });

  it("waits for running invocations when it stops", async () => {
    const { queues, running, settled, push } = manualQueues();
    push("a", 1);
    const stopped = queues.stop(new AbortController().signal);
    running[0]?.end();
    await stopped;
    expect(settled).toEqual(["1 finished"]);
  });

  it("runs an owner's source next although another owner's flood arrived before", async () => {
    const ran: string[] = [];
    const ends: (() => void)[] = [];
    const queues = queuesOf(
      async ({ invocation: { source } }) => {
        ran.push(source);
        await new Promise<void>((resolve) => ends.push(resolve));
        return "finished";
      },
      { limits: { ...limits, maxRuns: 4 }, ownerOf: ({ invocation: { source } }) => source.slice(0, 1) },
    );
    const push = (source: string, seq: number): void => queues.push({ received: received(source, seq), bytes: 1, settle: () => undefined });
    for (let n = 0; n < 200; n++) push(`flood${n}`, n);
    push("other", 200);
    expect(ran).toEqual(["flood0", "flood1", "other"]);
  });

  it("starts the next run of a contended owner when its run waits for I/O", async () => {
    const ran: string[] = [];
    const ends: (() => void)[] = [];
    const queues = queuesOf(
      async ({ invocation: { source } }) => {
        ran.push(source);
        await new Promise<void>((resolve) => ends.push(resolve));
        return "finished";
      },
      { ownerOf: ({ invocation: { source } }) => source.slice(0, 1) },
    );
    const push = (source: string, seq: number): void => queues.push({ received: received(source, seq), bytes: 1, settle: () => undefined });
    for (const [seq, source] of ["b", "a1"].entries()) push(source, seq);
    queues.charge("a", 1_000); // Its runs are expensive, so one at a time beside other owners.
    for (const [seq, source] of ["a2", "a3"].entries()) push(source, 2 + seq);
    expect(ran).toEqual(["b", "a1"]);
    queues.waitsForIo("a1");
    expect(ran).toEqual(["b", "a1", "a2"]);
    queues.waitsForIo("a1");
    expect(ran).toHaveLength(3);
    for (const end of ends) end();
    await turn();
    expect(ran).toEqual(["b", "a1", "a2", "a3"]);
    ends.at(-1)?.();
  });

  it("keeps the order of a source whose owner is loaded late, and counts its backlog until it runs", async () => {
    const owner = Promise.withResolvers<string>();
    const ran: number[] = [];
    const backlog = new Backlog({ ...defaultBacklogLimits, sourceInvocations: 4, totalBytes: 2 ** 20 });
    const queues = queuesOf(async ({ position }) => (ran.push(position.seq), await turn(), "finished"), {
      backlog,
      ownerOf: () => owner.promise,
    });
    for (const seq of [1, 2, 3, 4, 5, 6]) queues.push({ received: received("a", seq), bytes: 1, settle: () => undefined });
    expect([ran, queues.size]).toEqual([[], 6]);
    owner.resolve("u_1");
    await turn();
    expect(queues.counts()).toMatchObject({ fullSources: 1 });
    while (queues.size > 0) await turn();
    expect(ran).toEqual([1, 2, 3, 4, 5, 6]);
    expect([queues.counts().fullSources, backlog.report([0])]).toEqual([0, { partitions: [0], sources: [], owners: [] }]);
  });

  it("runs an invocation whose owner cannot be loaded", async () => {
    const { promise, reject } = Promise.withResolvers<string>();
    const ran: number[] = [];
    const queues = queuesOf(({ position }) => (ran.push(position.seq), Promise.resolve("finished")), { ownerOf: () => promise });
    const settled: string[] = [];
    queues.push({ received: received("a", 1), bytes: 1, settle: (settlement) => settled.push(settlement) });
    reject(new Error("NATS is down"));
    while (queues.size > 0) await turn();
    expect([ran, settled]).toEqual([[1], ["finished"]]);
  });
});
