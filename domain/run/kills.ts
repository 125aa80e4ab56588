import type { RunError } from "../run-products.ts";

/**
 * The runs of one deployment that killed their process, by a crash or a limit that ends the process. A source that
 * continues to do so is disabled, because each new process takes work from others. Another deployment resets this.
 */
export interface Kills {
  /** `d_…`. */
  readonly deployment: string;
  /** Epoch ms at which the latest of them began, oldest first, at most as many as disable a source. */
  readonly at: readonly number[];
  /** Number of such runs since the last run without a kill. */
  readonly inRow: number;
  /** Epoch ms since which the source is disabled; absent: it is not. */
  readonly disabledAt?: number;
}

/** So many in a row, or within the window, disable a source. */
export const killsThatDisable = 3;
export const killWindowMs = 10 * 60_000;

/** The state after one more run; undefined if there is nothing to store. */
export function recordRun(kills: Kills | undefined, deployment: string, startedAt: number, killedProcess: boolean): Kills | undefined {
  const before = kills?.deployment === deployment ? kills : undefined;
  if (before?.disabledAt !== undefined) return before;
  const recent = (before?.at ?? []).filter((at) => startedAt - at < killWindowMs);
  if (!killedProcess) return recent.length === 0 ? undefined : { deployment, at: recent, inRow: 0 };
  const at = [...(before?.inRow === 0 ? recent : (before?.at ?? [])), startedAt].slice(-killsThatDisable);
  const inRow = (before?.inRow ?? 0) + 1;
  const withinWindow = recent.length + 1;
  const isTooMany = inRow >= killsThatDisable || withinWindow >= killsThatDisable;
  return { deployment, at, inRow, ...(isTooMany ? { disabledAt: startedAt } : {}) };
}

/** Whether the deployment is disabled. */
export function isDisabled(kills: Kills | undefined, deployment: string): boolean {
  return kills?.deployment === deployment && kills.disabledAt !== undefined;
}

/** Error code of runs of a disabled source. */
export const disabledCode = "source_disabled";

/** The error of the run that disabled its source, and of all later invocations. */
export function disabledError(source: string, last?: RunError): RunError {
  const why = last === undefined ? "" : ` The last one: ${last.message}`;
  return {
    name: "SourceDisabled",
    code: disabledCode,
    message:
      `source ${source} is disabled: ${killsThatDisable} of its runs in a row, or within ${killWindowMs / 60_000} minutes, killed their process.` +
      ` It runs again after it is changed: fix its code, or send its 'active' again.${why}`,
  };
}

/** Error code of a refused call or dry run. */
export const callsRefusedCode = "too_many_kills";

/** The result of `configure` calls and dry runs of an owner after too many of them killed their process. @param until epoch ms */
export function callsRefusedError(until: number): RunError {
  return {
    name: "TooManyKills",
    code: callsRefusedCode,
    message:
      `${killsThatDisable} calls of options or additionalProps, or dry runs, of your components killed their process within ${killWindowMs / 60_000} minutes:` +
      ` no more are made until ${new Date(until).toISOString()}. Fix the code in the meantime; sources continue to run.`,
  };
}

/** The result of steps of a workflow after too many of them killed their process. @param until epoch ms */
export function workflowRefusedError(workflow: string, until: number): RunError {
  return {
    name: "TooManyKills",
    code: callsRefusedCode,
    message:
      `${killsThatDisable} steps of workflow ${workflow} killed their process within ${killWindowMs / 60_000} minutes:` +
      ` no more are executed until ${new Date(until).toISOString()}. Fix the code of its steps in the meantime.`,
  };
}
