import { HeadwaterError, QuotaExceeded, Unavailable } from "../../domain/errors.ts";
import { fileRetries, type FileEntry, type RunFiles, type RunOfFiles } from "../../domain/files/run-files.ts";
import { retry } from "../../domain/retry.ts";
import type { FormerFiles } from "../../domain/workflow/run-control.ts";
import { isOver, type Settled } from "./branches.ts";
import type { RunnerPorts } from "../ports.ts";
import type { Run } from "./open-run.ts";
import type { Steps } from "./position.ts";
import { failedRepetition } from "./repeated-run.ts";
import { tooMany, writeLayer } from "./run-files.ts";

/**
 * Where a run begins that repeats another one, with the files of that one: copied, so that they are its own, as long as it needs them. The
 * copies have the names of their originals, so another attempt after a crash stores them once.
 *
 * @param placed before its first commit: the run's begin @param steps of its version @throws Unavailable
 */
export async function withFormerFiles(run: Run, placed: Settled, steps: Steps, { files }: Pick<RunnerPorts, "files">): Promise<Settled> {
  const former = run.received.invocation.repeats?.files;
  // What failed unexpectedly, again and again, ends with that error.
  const hasFailed = run.received.failure !== undefined;
  if (former === undefined || hasFailed || run.history.last !== undefined || isOver(placed)) return placed;
  const { owner, workflow } = run.current;
  try {
    if (files === undefined) throw new Unavailable(`run ${run.id} begins with files, and this runner has no store of files`);
    run.formerFiles ??= await copyFiles({ owner, workflow, run: run.id }, former, files);
    return { ...placed, state: { ...placed.state, files: [run.formerFiles] } };
  } catch (error) {
    if (!(error instanceof HeadwaterError) || error instanceof Unavailable) throw error;
    // So that the repetition of this run begins there too, and not with the first step.
    const next = steps.slice(placed.state.next, placed.state.next + 1);
    return failedRepetition(placed.state, next, error.code, messageOf(error, former));
  }
}

const messageOf = ({ code, message }: HeadwaterError, { run }: FormerFiles): string =>
  code === "files_gone"
    ? `the files of run ${run}, with which this run was to begin, have been deleted: repeat that run from its first step, or without files`
    : `the files of run ${run}, with which this run was to begin, cannot be copied: ${message}`;

/** Copies what files have, without what was replaced or removed before. @returns the layer that has all of them */
async function copyFiles(run: RunOfFiles, former: FormerFiles, files: RunFiles): Promise<string> {
  const from = { ...run, run: former.run };
  const entries = await retry(() => files.list(from, former.layers), fileRetries);
  const refusal = tooMany(entries);
  if (refusal !== undefined) throw new QuotaExceeded(refusal.message, { code: "files_full" });
  await retry(() => files.copy(from, partsOf(entries), run.run), fileRetries);
  return writeLayer({ removed: [], put: entries }, run, files);
}

const partsOf = (entries: readonly FileEntry[]): readonly string[] => [
  ...new Set(entries.flatMap((entry) => (entry.kind === "file" ? entry.parts : []))),
];
