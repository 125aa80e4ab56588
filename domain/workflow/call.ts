import { derivedToken } from "../component/fingerprint.ts";
import type { RunError } from "../run-products.ts";

/**
 * A run that starts a run of another workflow of its owner, by a step with `workflow`:
 *
 *     caller                         delivery                       called
 *     commit with `call` ─────────▶ invocation with `caller` ────▶ runs; its last commit has `returns`
 *     `returned`, the step ends ◀── invocation `resume` ◀───────────┘
 *
 * Nothing else is stored: the call is delivered from the caller's commit, as its emits are, and the run that it starts has an id that
 * follows from that of the call. So a repetition starts no second run. A caller that waits is a suspended run.
 */
export interface Call {
  /** `<run>-c<number of the commit>` */
  readonly id: string;
  readonly workflow: string;
  /** JSON text. */
  readonly event: string;
  /** Number of the suspension in which the caller waits; absent: it does not. */
  readonly suspension?: number;
}

/** The suspended run that waits for a run to end. */
export interface Caller {
  readonly workflow: string;
  readonly run: string;
  readonly suspension: number;
}

/** The statuses of runs that have ended. */
export type EndStatus = "succeeded" | "exited" | "failed" | "canceled";

/** How a run that was called has ended. */
export interface Returned {
  /** Its id. */
  readonly run: string;
  readonly status: EndStatus;
  /** JSON text: what its last step returned. */
  readonly value: string;
  /** Of one that failed. */
  readonly error?: Pick<RunError, "name" | "message" | "code">;
}

/** Name of the error of a step whose called run has not succeeded. */
export const callErrorName = "CallError";

/** How long a run waits for one that it has called. Longer than an event waits for a workflow that is switched off. */
export const maxCallDays = 31;

/** Maximum bytes of JSON that a called run returns. */
export const maxReturnedBytes = 262_144;

export const callId = (run: string, commit: number): string => `${run}-c${commit}`;
/** Id of the run that a call starts. */
export const calledRun = (call: string): string => `r_c${derivedToken(call)}`;
