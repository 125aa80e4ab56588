import type { Log } from "../domain/log.ts";
import type { Clock } from "../domain/clock.ts";
import type { BacklogLimits } from "../domain/limits/admission.ts";
import type { Traces } from "../domain/traces.ts";
import type { CommitPorts } from "./commit/ports.ts";
import type { IntakePorts } from "./intake/ports.ts";
import type { RunPorts } from "./run/ports.ts";
import type { QueueCounts, SchedulePorts } from "./schedule/ports.ts";
import type { SchedulerLimits } from "./schedule/scheduler.ts";

/** Dependencies of the runner: those of its rooms, and those that all rooms use. `wiring` supplies the adapters. */
export interface RunnerPorts extends IntakePorts, SchedulePorts, RunPorts, CommitPorts {
  readonly clock: Clock;
  /** Returns 20 unguessable base62 characters. */
  readonly randomId: () => string;
  readonly log: Log;
  readonly metrics?: RunMetrics;
  /** Absent: tracing is off. */
  readonly traces?: Traces | undefined;
}

export interface RunMetrics {
  /** A run in the sandbox has ended: `returned`, `threw`, `crashed`, or the code of the limit that ended it. */
  ran(outcome: string, durationMs: number): void;
  /** An invocation starts to run, so many ms after it was stored. Not called for those that a quota has held back. */
  waited(ms: number): void;
  /** Reads the counts of this runner on each scrape. */
  counts(read: () => QueueCounts): void;
}

export interface RunnerConfig {
  /** Unique among live runners. */
  readonly runner: string;
  readonly pool: string;
  readonly runTimeoutMs: number;
  readonly memoryMb: number;
  /** Maximum bytes of source states that are cached. */
  readonly stateCacheBytes: number;
  /** Maximum bytes of an owner's commits that delivery has not processed; beyond it no run of the owner starts. Absent: 64 MiB. */
  readonly maxOwnerCommitBytes?: number;
  /** Absent: those of a runner with two children. */
  readonly limits?: SchedulerLimits;
  /** Absent: the default limits. */
  readonly backlog?: BacklogLimits;
  /** Maximum time that another runner waits for this runner's runs in a partition that it has lost; absent: ten seconds. */
  readonly handoverMs?: number;
}
