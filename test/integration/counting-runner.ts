import { z } from "zod";
import { type BacklogLimits, defaultBacklogLimits } from "../../domain/limits/admission.ts";
import type { Commit } from "../../domain/run/commit.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { defaultPool } from "../../domain/subjects.ts";
import { lastCommit } from "../../platform/jetstream/runs/commits.ts";
import type { Connection } from "../../platform/jetstream/connection/connection.ts";
import type { RunnerPorts } from "../../runner/ports.ts";
import { schedulerLimits } from "../../runner/schedule/scheduler.ts";
import { startRunner, type Runner } from "../../runner/start.ts";
import { createRunnerPorts } from "../../platform/jetstream/invocations/runner-ports.ts";
import { portsBesidePool } from "./runner-beside.ts";

/** Recorded runs and log lines. */
export interface Seen {
  /** `<source> <event>`, in order. */
  readonly ran: string[];
  readonly log: string[];
}
export const nothingSeen = (): Seen => ({ ran: [], log: [] });

export interface StartOptions {
  readonly pool?: string;
  /** Resolves when the run of the source may end. */
  readonly running?: (source: string) => Promise<unknown>;
  readonly quotas?: RunnerPorts["quotas"];
  readonly backlog?: BacklogLimits;
}

const counter = z.object({ service: z.object({ n: z.string() }).partial() }).partial();
const limits = schedulerLimits(1, 100);

/** Starts a runner whose user code counts runs in the source's db, which reveals repeated and lost runs. */
export function startCountingRunner(connection: Connection, seen: Seen, options: StartOptions = {}): Promise<Runner> {
  const { pool = defaultPool, running, quotas, backlog = defaultBacklogLimits } = options;
  const noted = (fields: object): void => void seen.log.push(JSON.stringify(fields));
  const ports: RunnerPorts = {
    ...createRunnerPorts(connection, pool),
    ...portsBesidePool(async ({ source, event, db }) => {
      seen.ran.push(`${source} ${event}`);
      await running?.(source);
      const n = Number(counter.parse(db).service?.n ?? "0") + 1;
      const about = { outcome: "ok", emits: [], logs: [], response: null, durationMs: 1, cpuMs: 1, error: null, result: null };
      return { ...about, db: { service: { n: String(n) } } };
    }),
    ...(quotas === undefined ? {} : { quotas }),
    log: { info: noted, warn: noted, error: noted },
  };
  const config = {
    runner: `r${Math.random()}`,
    pool,
    runTimeoutMs: 1_000,
    memoryMb: 64,
    stateCacheBytes: 2 ** 20,
    limits,
    backlog,
  };
  return startRunner(config, ports);
}

/** Number of committed runs of a source. */
export async function committedRuns(connection: Connection, owner: string, source: string): Promise<number> {
  const { text } = await lastCommit(connection, { owner, source, partition: partitionOf(source) });
  if (text === undefined) return 0;
  return Number(counter.parse((JSON.parse(text) as Commit).state.db).service?.n ?? "0"); // Written by the runner above.
}
