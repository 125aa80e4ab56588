import type { RunError } from "../run-products.ts";

/** Maximum time for which a paused source keeps what it has accepted; the same as that of an inactive workflow's events. */
export const maxPausedMs = 7 * 86_400_000;

/** Error codes of accepted work that ended without a run. */
export const pausedCode = "source_paused";
export const deletedCode = "source_deleted";

/** The error of an invocation that a paused source has not kept. */
export function pausedError(source: string, why: "age" | "backlog"): RunError {
  const reason =
    why === "age"
      ? `it has waited for more than ${maxPausedMs / 86_400_000} days`
      : "the backlog of the source or its owner is full, so that the oldest work ends first";
  return {
    name: "SourcePaused",
    code: pausedCode,
    message: `source ${source} is paused and did not run this: ${reason}. Activate the source, and run the event again with POST /v1/sources/${source}/runs`,
  };
}

/** The error of an invocation whose source was deleted before it ran. */
export function deletedError(source: string): RunError {
  return { name: "SourceDeleted", code: deletedCode, message: `source ${source} was deleted before it ran this` };
}
