import { startRunner } from "../../runner/start.ts";
import type { RunnerConfig, RunnerPorts } from "../../runner/ports.ts";
import type { ExecuteRequest, Execution, Sandbox } from "../../runner/sandbox/port.ts";
import { defaultPool } from "../../domain/subjects.ts";
import { Feed } from "./feed.ts";
import { executeFlowStep } from "./flow.ts";
import { joinGroup } from "./group-model.ts";
import type { StoredInvocations } from "./invocations-model.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Servers } from "./servers.ts";

const config: Omit<RunnerConfig, "runner"> = { pool: defaultPool, runTimeoutMs: 30_000, memoryMb: 64, stateCacheBytes: 20_000 };
const nothing = (): void => undefined;

const maxStopMs = 10_000;

/** Starts the runner role in a process. @returns what stops it */
export async function startRunnerIn(process: SimulatedProcess, servers: Servers, log: RunnerPorts["log"]): Promise<() => Promise<void>> {
  const runner = await process.run(() => startRunner({ ...config, runner: process.name }, portsOf(process, servers, log)));
  return () => process.run(() => runner.stop(process.signalAfter(maxStopMs)));
}

function portsOf(process: SimulatedProcess, servers: Servers, log: RunnerPorts["log"]): RunnerPorts {
  const { runs, runners, deployments } = servers;
  const nats = <Answer>(effect: () => Answer): Promise<Answer> => process.request("nats", effect);
  return {
    sandbox: sandboxOf(process),
    deployments: { get: (name) => nats(() => deployments.get(name)), onChange: async () => undefined },
    moves: { move: () => Promise.reject(new Error("no simulation moves sources")) },
    commits: {
      last: (owner, history) => nats(() => runs.last(owner, history)),
      append: (owner, history, text, expected) => nats(() => runs.append(owner, history, text, expected)),
      endDeleted: (owner, history) => nats(() => runs.endDeleted(owner, history)),
      end: (...args) => nats(() => runs.end(...args)),
    },
    intake: { read: (...args) => read(process, servers, ...args) },
    membership: {
      join: (runner, { onMembers, report }) => joinGroup(runners, process, runner, { onMembers, report }),
      heldByOthers: (runner) => nats(() => runners.heldByOthers(runner)),
    },
    quotas: { blockedUntil: () => nats(() => undefined), onChange: async () => ({ stop: async () => undefined }) },
    timers: { armAt: () => nats(nothing), cancel: () => nats(nothing) },
    wakeUps: { schedule: (...args) => nats(() => servers.invocations.wake(...args)) },
    bundles: { path: async (hash) => hash },
    stacks: { map: async (_bundle, stack) => stack },
    secrets: { open: async () => "{}" }, // Also a key of resume URLs.
    answer: nothing,
    sendPiece: async () => false,
    clock: process.clock,
    randomId: () => Array.from({ length: 20 }, () => Math.floor(process.random() * 36).toString(36)).join(""),
    log,
  };
}

async function read(
  process: SimulatedProcess,
  { invocations }: Servers,
  ...[partition, onMessage, hasRoom]: Parameters<RunnerPorts["intake"]["read"]>
): ReturnType<RunnerPorts["intake"]["read"]> {
  const waiting: (StoredInvocations & { readonly isNew: boolean })[] = [];
  const resume = (): void => {
    while (hasRoom()) {
      const next = waiting.shift();
      if (next === undefined) return;
      const { seq, text, storedAt, isNew } = next;
      onMessage({ seq, text, storedAt, isNew, ack: () => process.send("nats", () => invocations.ack(seq)) });
    }
  };
  const feed = new Feed<StoredInvocations & { readonly isNew: boolean }>(process, (message) => {
    waiting.push(message);
    resume();
  });
  await feed.open(() => invocations.read(partition, feed));
  return { stop: async () => feed.close(), unread: () => waiting.length, resume };
}

/**
 * Runs of components that count their runs in `$.service.db`, and emit what they get with the new count. They take up to 50 ms, and sometimes
 * seconds.
 */
function sandboxOf(process: SimulatedProcess): Sandbox {
  const run = (request: ExecuteRequest): Execution => {
    if (request.action !== undefined) return executeFlowStep(request);
    const { event, db } = request;
    const count = Number(db["db"]?.["count"] ?? 0) + 1;
    const { token } = JSON.parse(event) as { readonly token: string };
    return {
      outcome: "returned",
      result: null,
      emits: [{ payload: JSON.stringify({ token, count }), at: process.clock.now() }],
      logs: [],
      db: { db: { count: String(count) } },
      response: null,
      durationMs: 1,
      cpuMs: 1,
    };
  };
  return {
    execute: (request) => {
      const ms = process.random() < 0.01 ? process.random() * 5_000 : process.random() * 50;
      return new Promise((resolve) => void process.after(ms, () => resolve(run(request))));
    },
    inspect: () => Promise.reject(new Error("no simulation inspects components")),
    evict: nothing,
    stats: () => ({ children: 1, isolates: 0, sources: 0, residentBytes: 0, evictions: 0, startFailure: undefined, startFailures: 0 }),
    stop: async () => undefined,
  };
}
