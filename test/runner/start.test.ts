import { expect, it } from "vitest";
import { encodePack } from "../../domain/invocation/invocation.ts";
import type { IntakeMessage } from "../../runner/intake/ports.ts";
import type { RunnerPorts } from "../../runner/ports.ts";
import type { Execution } from "../../runner/sandbox/port.ts";
import type { QueueCounts } from "../../runner/schedule/ports.ts";
import { startRunner } from "../../runner/start.ts";
import { deployment, runnerConfig } from "./support.ts";

const nothing = (): void => undefined;
const writing = (characters: number): Execution => ({
  outcome: "returned",
  result: null,
  emits: [],
  logs: [],
  db: { db: { key: JSON.stringify("x".repeat(characters)) } },
  response: null,
  durationMs: 1,
  cpuMs: 1,
});

/** A runner whose runs write so many characters to their db. Counts runs and loads of state. */
async function runnerWith(characters: number, last?: string, others: Partial<RunnerPorts> = {}) {
  let loads = 0;
  let sequence = 0;
  let runs = 0;
  let deliver: (message: IntakeMessage) => void = nothing;
  const ports: RunnerPorts = {
    sandbox: {
      execute: () => ((runs += 1), Promise.resolve(writing(characters))),
      inspect: () => Promise.reject(new Error("unused")),
      evict: nothing,
      stats: () => ({ children: 1, isolates: 0, sources: 0, residentBytes: 0, evictions: 0, startFailure: undefined, startFailures: 0 }),
      stop: () => Promise.resolve(),
    },
    deployments: { get: (source) => Promise.resolve({ ...deployment, source }), onChange: () => Promise.resolve() },
    commits: {
      end: () => Promise.resolve(),
      endDeleted: () => Promise.resolve(),
      last: () => Promise.resolve({ commit: ((loads += 1), last), sequence }),
      append: (_owner, _source, commit) => ((last = commit), Promise.resolve({ outcome: "stored", sequence: (sequence += 1) })),
    },
    moves: { move: () => Promise.resolve() },
    intake: {
      read: (_partition, onMessage) => (
        (deliver = onMessage),
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
    quotas: { blockedUntil: () => Promise.resolve(undefined), onChange: () => Promise.resolve({ stop: () => Promise.resolve() }) },
    bundles: { path: (hash) => Promise.resolve(hash) },
    wakeUps: { schedule: () => Promise.resolve() },
    timers: { armAt: () => Promise.resolve(), cancel: () => Promise.resolve() },
    stacks: { map: (_bundle, stack) => Promise.resolve(stack) },
    secrets: { open: () => Promise.resolve("{}") },
    answer: nothing,
    sendPiece: () => Promise.resolve(false),
    clock: { now: () => 0 },
    randomId: () => "x".repeat(20),
    log: { info: nothing, warn: nothing, error: nothing },
    ...others,
  };
  const runner = await startRunner(runnerConfig, ports);
  let seq = 0;
  const send = (source: string, at: number, storedAt = 0): Promise<string> =>
    new Promise((resolve) => {
      const text = encodePack([JSON.stringify({ source, trigger: "manual" })]);
      deliver({ text, seq: at, storedAt, isNew: true, ack: () => resolve("ack") });
    });
  return {
    run: (source: string) => send(source, (seq += 1)),
    send,
    loads: () => loads,
    commit: () => last,
    runs: () => runs,
    stop: () => runner.stop(AbortSignal.timeout(1_000)),
  };
}

it("caches as many source states as fit by their current size", async () => {
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

it("runs no invocation again that NATS redelivers after losing its ack, even after a restart of the runner", async () => {
  const runner = await runnerWith(1);
  for (const seq of [1, 2, 3]) await runner.send("dc_a", seq);
  expect(await runner.send("dc_a", 2)).toBe("ack");
  const { commit, stop } = runner;
  await stop();
  const next = await runnerWith(1, commit());
  for (const seq of [1, 2, 3]) expect(await next.send("dc_a", seq)).toBe("ack");
  expect([runner.runs(), next.runs()]).toEqual([3, 0]);
  await next.send("dc_a", 4);
  expect(next.runs()).toBe(1);
  await next.stop();
});

it("observes the wait of invocations, except of those that a quota has held back", async () => {
  let [now, blockedUntil, changed]: [number, number | undefined, (owner: string) => void] = [5, undefined, nothing];
  let counts: () => QueueCounts | undefined = () => undefined;
  const waits: number[] = [];
  const { send, stop } = await runnerWith(1, undefined, {
    clock: { now: () => now },
    metrics: { ran: nothing, waited: (ms) => waits.push(ms), counts: (read) => (counts = read) },
    quotas: {
      blockedUntil: () => Promise.resolve(blockedUntil),
      onChange: (listener) => ((changed = listener), Promise.resolve({ stop: () => Promise.resolve() })),
    },
  });
  const setQuota = async (untilMs: number): Promise<void> => {
    blockedUntil = untilMs;
    changed(deployment.owner);
    await new Promise((resolve) => setImmediate(resolve));
  };
  await send("dc_a", 1, 0);
  await setQuota(80_000_000);
  const parked = send("dc_a", 2, 6);
  expect([counts()?.waiting, counts()?.blocked.owner_quota]).toEqual([0, 1]);
  now = 50_000_000;
  await setQuota(now);
  expect(await parked).toBe("ack");
  await send("dc_a", 3, now);
  now += 40;
  await send("dc_a", 4, now - 30);
  expect(waits).toEqual([5, 0, 30]);
  await stop();
});
