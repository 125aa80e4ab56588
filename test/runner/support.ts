import { defaultBacklogLimits } from "../../domain/limits/admission.ts";
import type { QueuePosition } from "../../domain/invocation/watermark.ts";
import type { Deployment } from "../../domain/source/deployment.ts";
import { defaultPool } from "../../domain/subjects.ts";
import type { RunnerConfig } from "../../runner/ports.ts";
import { Backlog } from "../../runner/schedule/backlog.ts";

/** A source with default settings. */
export const deployment: Deployment = {
  source: "dc_1",
  owner: "u_1",
  pool: "default",
  name: "s",
  id: "d_1",
  generation: 3,
  active: true,
  bundle: "b",
  needsNode: false,
  props: {},
  secrets: null,
  dedupe: null,
  hooks: [],
  endpoint: null,
};

export const runnerConfig: RunnerConfig = { runner: "r_1", pool: defaultPool, runTimeoutMs: 1_000, memoryMb: 64, stateCacheBytes: 16_384 };

/** A position in the queue of the default pool. */
export const positionAt = (seq: number, index = 0): QueuePosition => ({ pool: defaultPool, seq, index, storedAt: 0 });

/** A backlog with the default limits, for tests that do not reach them. */
export const largeBacklog = (): Backlog => new Backlog({ ...defaultBacklogLimits, totalBytes: 2 ** 28 });
