import { filesKeptMs, type RunOfFiles } from "../domain/files/run-files.ts";
import type { OperatorPorts } from "./ports.ts";

export interface FileSweepLimits {
  readonly intervalMs: number;
  /**
   * Files are deleted when their run has needed none for this time, and has stored none: longer than a step runs before its first commit, and
   * than a backup takes between the commits and the files.
   */
  readonly keptMs: number;
}

export const defaultFileSweepLimits: FileSweepLimits = { intervalMs: 10 * 60_000, keptMs: filesKeptMs };

type Ports = Pick<OperatorPorts, "files" | "clock" | "log">;

/** Deletes the files of runs that have ended, and of steps and tests that were never committed. */
export function fileSweeper({ files, clock, log }: Ports, { intervalMs, keptMs }: FileSweepLimits = defaultFileSweepLimits) {
  /** Since when a run needs none. A new leader begins again. */
  let unneeded = new Map<string, number>();

  async function sweepRun(run: RunOfFiles, now: number): Promise<number | undefined> {
    if (await files.isNeeded(run)) return undefined;
    const since = unneeded.get(keyOf(run)) ?? now;
    const storedAt = await files.lastStoredAt(run);
    if (storedAt === undefined || Math.max(since, storedAt) > now - keptMs) return since;
    await files.forget(run);
    log.info({ op: "files.sweep", "workflow.id": run.workflow, "run.id": run.run, "owner.id": run.owner }, "deleted the files of a run");
    return undefined;
  }

  return async (_key: string, signal: AbortSignal): Promise<number> => {
    const now = clock.now();
    const seen = new Map<string, number>();
    const errors: unknown[] = [];
    for (const run of await files.list()) {
      signal.throwIfAborted();
      // One that cannot be swept keeps no other.
      const since = await sweepRun(run, now).catch((error: unknown) => void errors.push(error));
      if (since !== undefined) seen.set(keyOf(run), since);
    }
    unneeded = seen;
    if (errors.length > 0) throw errors[0];
    return intervalMs;
  };
}

const keyOf = ({ owner, workflow, run }: RunOfFiles): string => `${owner} ${workflow} ${run}`;
