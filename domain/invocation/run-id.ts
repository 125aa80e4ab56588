import { derivedToken } from "../component/fingerprint.ts";
import type { Invocation, InvocationNumber } from "./invocation.ts";

/** The history of a run, as `source` in the subjects of commits: `runs.<partition>.<owner>.<workflow>.<run>`. */
export const historyOfRun = (workflow: string, run: string): string => `${workflow}.${run}`;
/** The id of the source or workflow that a history belongs to. */
export const idOfHistory = (history: string): string => history.split(".", 1)[0] ?? history;

export const isRunId = (text: string): boolean => /^r_\w{1,100}$/.test(text);

/**
 * Id of the run that an invocation of a workflow starts or continues. It is the same for each repetition of the invocation, so that a
 * repetition finds the history of the run:
 *
 * | trigger | the id follows from |
 * |---|---|
 * | resume, control | the request |
 * | manual | the caller |
 * | event, email | the delivery: NATS may store it twice |
 * | timer of a chain | the tick: each link may be armed twice |
 * | other | the position of the invocation in INVOCATIONS |
 */
export function workflowRunId(invocation: Invocation, position: InvocationNumber): string {
  const { resume, control, run, delivery, chain, at, movedFrom } = invocation;
  if (resume !== undefined) return resume.run;
  if (control !== undefined) return control.run;
  if (run !== undefined) return run;
  if (delivery !== undefined) return `r_e${hexOf(delivery)}`;
  if (chain !== undefined && at !== undefined) return `r_t${derivedToken(`${chain} ${at}`)}${at.toString(36)}`;
  return runIdOf(movedFrom ?? position);
}

/** Id of the run of an invocation by its position, which is unique within the installation. */
export function runIdOf({ seq, index }: InvocationNumber): string {
  return `r_${seq.toString(36).padStart(8, "0")}${index.toString(36).padStart(2, "0")}`;
}

/** Ids are case-insensitive; the ids of deliveries in invocations are base64url. */
const hexOf = (text: string): string => Array.from(text, (character) => character.charCodeAt(0).toString(16)).join("");
