import { filesKeptMs, type RunOfFiles } from "../domain/files/run-files.ts";
import type { OperatorPorts } from "./ports.ts";
import type { RunWithFiles } from "./stored-ports.ts";

const intervalMs = 10 * 60_000;

/** A run that needs no files, and since when: epoch ms. */
interface Unneeded {
  readonly run: RunWithFiles;
  readonly since: number;
}

/**
 * Deletes the files of runs that have ended, and of steps and tests that were never committed, as `filesKeptMs` says: those first that have been
 * unneeded longest.
 */
export function fileSweeper({ files, clock, log }: Pick<OperatorPorts, "files" | "clock" | "log">) {
  /** Since when a run needs none. A new leader begins again. */
  let known = new Map<string, number>();

  /** @returns epoch ms; undefined: it needs them, or has none */
  async function unneededSince(run: RunOfFiles, now: number): Promise<number | undefined> {
    // Each time: a run that had no commit yet may have one now.
    if (await files.isNeeded(run)) return undefined;
    const storedAt = await files.lastStoredAt(run);
    return storedAt === undefined ? undefined : Math.max(known.get(keyOf(run)) ?? now, storedAt);
  }

  return async (_key: string, signal: AbortSignal): Promise<number> => {
    const now = clock.now();
    const { runs, bytes, maxBytes } = await files.list();
    const unneeded: Unneeded[] = [];
    const failed = new Map<string, number>();
    const errors: unknown[] = [];
    for (const run of runs) {
      signal.throwIfAborted();
      try {
        const since = await unneededSince(run, now);
        if (since !== undefined) unneeded.push({ run, since });
      } catch (error) {
        // The files of the others do not stay because of it, and this one is looked at again.
        errors.push(error);
        const since = known.get(keyOf(run));
        if (since !== undefined) failed.set(keyOf(run), since);
      }
    }
    known = new Map([...failed, ...unneeded.map(({ run, since }) => [keyOf(run), since] as const)]);
    let left = bytes;
    for (const { run, since } of unneeded.toSorted((one, other) => one.since - other.since)) {
      if (since > now - filesKeptMs(left, maxBytes)) break;
      signal.throwIfAborted();
      try {
        await files.forget(run);
      } catch (error) {
        errors.push(error);
        continue;
      }
      left -= run.bytes;
      known.delete(keyOf(run));
      log.info({ op: "files.sweep", "workflow.id": run.workflow, "run.id": run.run, "owner.id": run.owner }, "deleted the files of a run");
    }
    if (errors.length > 0) throw errors[0];
    return intervalMs;
  };
}

const keyOf = ({ owner, workflow, run }: RunOfFiles): string => `${owner} ${workflow} ${run}`;
