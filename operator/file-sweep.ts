import type { OperatorPorts } from "./ports.ts";

export interface FileSweepLimits {
  readonly intervalMs: number;
  /** Files of a run are kept so long after the last of them was stored, and as long as the run has not ended. */
  readonly keptMs: number;
}

export const defaultFileSweepLimits: FileSweepLimits = { intervalMs: 10 * 60_000, keptMs: 24 * 60 * 60_000 };

type Ports = Pick<OperatorPorts, "files" | "clock" | "log">;

/** Deletes the files of runs that have ended, and of steps and tests that were never committed. */
export function fileSweeper({ files, clock, log }: Ports, { intervalMs, keptMs }: FileSweepLimits = defaultFileSweepLimits) {
  return async (_key: string, signal: AbortSignal): Promise<number> => {
    for (const run of await files.list()) {
      signal.throwIfAborted();
      const storedAt = await files.lastStoredAt(run);
      if (storedAt === undefined || storedAt > clock.now() - keptMs || (await files.isNeeded(run))) continue;
      await files.forget(run);
      log.info({ op: "files.sweep", "workflow.id": run.workflow, "run.id": run.run, "owner.id": run.owner }, "deleted the files of a run");
    }
    return intervalMs;
  };
}
