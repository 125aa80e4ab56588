import { assertNever } from "../errors.ts";
import type { Gone, ResumeRequest } from "./resume-request.ts";
import { hasEnded, type RunStatus, type SuspensionEnd } from "./run-state.ts";

/** What is known of a run: its state, or what its end marker says. */
interface KnownRun {
  readonly status: RunStatus;
  readonly suspensions: number;
  readonly suspensionEnd?: SuspensionEnd;
}

/**
 * Why a resume or cancel URL has no effect.
 *
 * | the suspension of the URL | code |
 * |---|---|
 * | was ended by a request to one of its URLs | `resume_url_used` |
 * | was not resumed in time | `resume_url_expired` |
 * | ended because its time had come, or was followed by another | `resume_url_replaced` |
 * | never began, or the run is forgotten | `run_ended` |
 *
 * @param run undefined: forgotten, some time after its end
 */
export function whyGone({ run: id, suspension }: Pick<ResumeRequest, "run" | "suspension">, run: KnownRun | undefined): Gone {
  if (run === undefined) return gone("run_ended", `run ${id} has ended, so this URL has no effect`);
  const { status, suspensions, suspensionEnd: end } = run;
  const now = hasEnded(status) ? `it has ${status === "succeeded" ? status : `ended as ${status}`}` : `it is ${status}`;
  if (end?.number === suspension) return ofEnd(id, end, now);
  if (suspension > suspensions) return gone("run_ended", `run ${id} did not wait for this URL: ${now}`);
  return gone("resume_url_replaced", `run ${id} no longer waits for this URL, because a later wait has replaced it: ${now}`);
}

function ofEnd(id: string, { how, at }: SuspensionEnd, now: string): Gone {
  const time = new Date(at).toISOString();
  switch (how) {
    case "resumed":
      return gone("resume_url_used", `run ${id} was resumed at ${time} by a request to its resume URL: ${now}`);
    case "canceled":
      return gone("resume_url_used", `run ${id} was canceled at ${time} by a request to its cancel URL`);
    case "timed_out":
      return gone("resume_url_expired", `run ${id} was canceled at ${time}, because nothing had resumed it in time`);
    case "continued":
      return gone("resume_url_replaced", `run ${id} stopped waiting for this URL at ${time}, because its time had come: ${now}`);
    default:
      return assertNever(how);
  }
}

const gone = (code: Gone["code"], message: string): Gone => ({ outcome: "gone", code, message });
