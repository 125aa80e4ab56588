import { expect, it } from "vitest";
import { encodePack } from "../../domain/invocation/invocation.ts";
import type { IntakeMessage, RunnerPorts } from "../../runner/ports.ts";
import type { Execution } from "../../runner/sandbox/port.ts";
import { startRunner } from "../../runner/start.ts";
import { deployment } from "./support.ts";
import { defaultPool } from "../../domain/subjects.ts";

const nothing = (): void => undefined;
const wrote = (characters: number): Execution => ({
  outcome: "returned",
  result: null,
  emits: [],
  logs: [],
  db: { db: { key: JSON.stringify("x".repeat(characters)) } },
  response: null,
  durationMs: 1,
  cpuMs: 1,
});

/** A runner of one partition's messages, whose runs write so much to their db, and how often it loaded a history. */
async function runnerWith(characters: number, last?: string) {
  let loads = 0;
  let sequence = 0;
  let runs = 0;
  let hand: (message: IntakeMessage) => void = nothing;
  const ports: RunnerPorts = {
    sandbox: {
      execute: () => ((runs += 1), Promise.resolve(wrote(characters))),
      inspect: () => Promise.reject(new Error("nobody asks")),
      evict: nothing,
      stats: () => ({ children: 1, isolates: 0, sources: 0, residentBytes: 0, evictions: 0, startFailure: undefined, startFailures: 0 }),
      stop: () => Promise.resolve(),
    },
    deployments: { get: (source) => Promise.resolve({ ...deployment, source }), onChange: () => Promise.resolve() },
    histories: {
      last: () => Promise.resolve({ commit: ((loads += 1), last), sequence }),
      append: (_owner, _source, commit) => ((last = commit), Promise.resolve({ outcome: "stored", sequence: (sequence += 1) })),
    },
    moves: { move: () => Promise.resolve() },
    intake: {
      read: (_partition, onMessage) => (
        (hand = onMessage),
        Promise.resolve({ stop: () => Promise.resolve(), unread: () => 0, resume: nothing })
      ),
    },
    membership: {
      join: (_runner, { onMembers }) => {
        onMembers(["r_1"]);
        return Promise.resolve({
          leave: () => Promise.resolve(),
          retire: () => Promise.resolve(),
          report: () => Promise.resolve(),
          reportSoon: nothing,
        });
      },
      heldByOthers: () => Promise.resolve(new Set()),
    },
    overQuota: { untilOf: () => Promise.resolve(undefined), onChange: () => Promise.resolve({ stop: () => Promise.resolve() }) },
    bundles: { path: (hash) => Promise.resolve(hash) },
    timers: { armAt: () => Promise.resolve() },
    stacks: { map: (_bundle, stack) => Promise.resolve(stack) },
    secrets: { open: () => Promise.resolve("{}") },
    answer: nothing,
    clock: { now: () => 0 },
    randomId: () => "x".repeat(20),
    log: { info: nothing, warn: nothing, error: nothing },
  };
  const runner = await startRunner(
    { runner: "r_1", pool: defaultPool, runTimeoutMs: 1_000, memoryMb: 64, historyBudgetBytes: 16_384 },
    ports,
  );
  let seq = 0;
  const give = (source: string, at: number): Promise<string> =>
    new Promise((resolve) => {
      const text = encodePack([JSON.stringify({ source, trigger: "manual" })]);
      hand({ text, seq: at, storedAt: 0, ack: () => resolve("ack") });
    });
  return {
    run: (source: string) => give(source, (seq += 1)),
    give,
    loads: () => loads,
    commit: () => last,
    runs: () => runs,
    stop: () => runner.stop(AbortSignal.timeout(1_000)),
  };
}

it("keeps in memory as many histories as fit by what they hold now", async () => {
  for (const [characters, loads] of [
    [100, 2],
    [5_000, 4],
  ] as const) {
    const runner = await runnerWith(characters);
    for (const source of ["dc_a", "dc_b", "dc_a", "dc_b"]) expect(await runner.run(source)).toBe("ack");
    expect(runner.loads()).toBe(loads);
    await runner.stop();
  }
});

it("runs nothing again that NATS delivers again after it lost the ack, whether or not the runner has restarted", async () => {
  const runner = await runnerWith(1);
  for (const seq of [1, 2, 3]) await runner.give("dc_a", seq);
  expect(await runner.give("dc_a", 2)).toBe("ack");
  const { commit, stop } = runner;
  await stop();
  const next = await runnerWith(1, commit());
  for (const seq of [1, 2, 3]) expect(await next.give("dc_a", seq)).toBe("ack");
  expect([runner.runs(), next.runs()]).toEqual([3, 0]);
  await next.give("dc_a", 4);
  expect(next.runs()).toBe(1);
  await next.stop();
});
