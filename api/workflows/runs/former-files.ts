import { Conflict } from "../../../domain/errors.ts";
import { maxFilesKeptMs } from "../../../domain/files/run-files.ts";
import type { WorkflowRunDetails } from "../../../domain/workflow/recorded-run.ts";
import type { FormerFiles } from "../../../domain/workflow/run-control.ts";

/** A run of those that repeat each other. */
export interface RanSteps {
  readonly run: WorkflowRunDetails;
  /** Index of the step with which it began. */
  readonly began: number;
}

export const notRepeatable = (message: string): Conflict => new Conflict(message, { code: "run_not_repeatable" });

/**
 * The files that a run had when the steps before had ended: those that its own steps have left, or with which it began.
 *
 * @param runs the repeated one, then that which it repeats, and so on @param before all steps before the first one
 * @returns undefined: it had none @throws Conflict if they are deleted
 */
export function formerFiles(runs: readonly RanSteps[], before: readonly { readonly name: string }[], now: number): FormerFiles | undefined {
  const run = runs.find(({ began }) => began <= before.length)?.run;
  if (run === undefined) return undefined;
  const names = new Set(before.map(({ name }) => name));
  const last = run.attempts.findLast(({ name }) => names.has(name));
  const layers = last === undefined ? run.attempts[0]?.files?.before : (last.files?.after ?? last.files?.before);
  if (last !== undefined && last.files === undefined && run.attempts.some(({ files }) => files !== undefined))
    throw notRepeatable(
      `an earlier version has run step '${last.name}' of run ${run.id}, and has not recorded its files: repeat the run from its first step, or with \`without_files\` if the other steps need none`,
    );
  if (layers === undefined || layers.length === 0) return undefined;
  if ((run.endedAt ?? run.startedAt) + maxFilesKeptMs < now)
    throw new Conflict(
      `the files that the steps before have left in run ${run.id} are gone: they are kept for at most a day after its end. Repeat the run from its first step, or with \`without_files\` if the other steps need none`,
      { code: "files_gone" },
    );
  return { run: run.id, layers };
}
