import type { Answer } from "../../domain/invocation/invocation.ts";
import type { ResumeOutcome, ResumeRequest } from "../../domain/workflow/resume-request.ts";
import { whyGone } from "../../domain/workflow/resume-outcome.ts";
import type { SuspensionEnd } from "../../domain/workflow/run-state.ts";
import type { LastOfRun } from "./begin-run.ts";
import { branchOf, viewOfBranch } from "./branches.ts";
import type { Begun } from "./control-run.ts";

export type SendAnswer = (subject: string, answer: Answer) => void;

/**
 * Runs that this runner has resumed and whose invocation has not finished. A further request to their URLs waits in their queue, for as long
 * as its steps take, so its caller gets an answer when it arrives.
 */
export class ResumedRuns {
  /** By run and branch. */
  readonly #ends = new Map<string, Map<number, SuspensionEnd>>();

  add(run: string, end: SuspensionEnd): void {
    const ends = this.#ends.get(run) ?? new Map<number, SuspensionEnd>();
    this.#ends.set(run, ends.set(branchOf(end.number), end));
  }

  delete(run: string): void {
    this.#ends.delete(run);
  }

  /** Answers a request that has just arrived if its suspension is known to have ended. */
  answerEarly(resume: ResumeRequest | undefined, answer: SendAnswer): void {
    const end = resume === undefined ? undefined : this.#ends.get(resume.run)?.get(branchOf(resume.suspension));
    if (resume?.answerTo === undefined || end === undefined || resume.suspension > end.number) return;
    const outcome = whyGone(resume, { status: "running", suspensions: end.number, suspensionEnd: end });
    answer(resume.answerTo, { kind: "resume", outcome });
  }
}

/** @returns undefined while the step that may wait for the URL has not ended */
export function resumeOutcome(resume: ResumeRequest, begun: Begun | undefined, last: LastOfRun | undefined): ResumeOutcome | undefined {
  if (begun === undefined) return whyGone(resume, last?.state === null ? last.ended : undefined);
  if (begun.endsSuspension === true) return { outcome: "done" };
  // That of the branch which has given out the URL. One that is over waits for nothing more.
  const state = viewOfBranch(begun.state, branchOf(resume.suspension)) ?? { ...begun.state, suspensions: resume.suspension };
  return state.status === "running" && resume.suspension > state.suspensions ? undefined : whyGone(resume, state);
}
