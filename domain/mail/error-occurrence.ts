import { endOf } from "../run/derived-events.ts";
import type { Commit } from "../run/commit.ts";
import { maxTimestampMs } from "../clock.ts";
import { errorTemplate } from "./error-template.ts";
import { bounded } from "./outgoing-mail.ts";

/** An unhandled error of a run, or of an account that must be connected again, as a mail shows it. All texts are bounded. */
export interface ErrorOccurrence {
  /** The source, `dc_…`, the workflow, `p_…`, or the account, `apn_…`. */
  readonly emitter: string;
  readonly owner: string;
  /** Display name; null if unknown. */
  readonly name: string | null;
  /** Null for an account. */
  readonly run: string | null;
  /** Epoch ms at which the run failed. */
  readonly at: number;
  readonly code: string;
  readonly message: string;
  /** The step that failed; null for a source, and for an error outside of steps. */
  readonly step: { readonly id: string; readonly name: string } | null;
}

const maxName = 200;
const maxMessage = 4_000;

/**
 * The error of a commit that is to be mailed. Undefined if its run has not failed: a step with `continueOnError` or a retry left has no
 * error here; or if the workflow's settings refuse mails. The commit comes from a runner: only {@link readCommit} has checked it.
 */
export function errorOccurrence({ source, owner, run, error, workflow }: Commit): ErrorOccurrence | undefined {
  if (error === null || workflow?.errorMails === false) return undefined;
  const step = workflow?.failedStep ?? workflow?.step;
  const isStep = typeof step?.id === "string" && typeof step.name === "string";
  return {
    emitter: source,
    owner,
    name: typeof workflow?.name === "string" ? bounded(workflow.name, maxName) : null,
    run: run.id,
    at: Math.min(Math.max(endOf({ run, workflow }), -maxTimestampMs), maxTimestampMs),
    code: bounded(typeof error.code === "string" ? error.code : error.name, maxName),
    message: bounded(error.message, maxMessage),
    step: isStep ? { id: bounded(step.id, maxName), name: bounded(step.name, maxName) } : null,
  };
}

/** An account that a person must connect again. */
export function reconnectOccurrence(account: {
  readonly id: string;
  readonly owner: string;
  readonly name: string | undefined;
  readonly at: number;
  readonly why: string;
}): ErrorOccurrence {
  const { id, owner, name, at, why } = account;
  return {
    emitter: id,
    owner,
    name: name === undefined ? null : bounded(name, maxName),
    run: null,
    at,
    code: "needs_reconnect",
    message: bounded(why, maxMessage),
    step: null,
  };
}

/** Equal for repetitions of one error of one emitter: its code, its message without variable parts, and its step. */
export const distinctError = ({ code, message, step }: ErrorOccurrence): string =>
  JSON.stringify([code, errorTemplate(message), step?.id ?? null]);
