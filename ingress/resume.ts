import { createHmac, timingSafeEqual } from "node:crypto";
import type { Endpoint } from "../domain/source/deployment.ts";
import {
  parseResumePath,
  signedText,
  testSuspension,
  type ResumeOutcome,
  type ResumeRequest,
  type ResumeToken,
} from "../domain/workflow/resume-request.ts";
import type { Budget } from "../domain/limits/budget.ts";
import { ownerOf } from "./await-answer.ts";
import { overloaded, PublicError } from "./errors.ts";
import type { Target } from "./http-event.ts";
import type { IngressConfig, IngressPorts } from "./ports.ts";

/**
 * What a request to a resume or cancel URL asks of a suspended run; undefined for any other request. Whether the run is still suspended is
 * decided by the runner, see `awaitResumed`.
 *
 * @param now epoch ms
 * @throws PublicError 404 if the URL is forged, 410 if it has expired or is of a test
 */
export function requestedResume({ path }: Target, { workflow }: Endpoint, now: number): ResumeRequest | undefined {
  const token = workflow === undefined ? undefined : parseResumePath(path);
  if (token === undefined || workflow === undefined) return undefined;
  if (!isSignedWith(workflow.resumeKey, token)) throw new PublicError(404, "resume_url_invalid", "this URL belongs to no suspended run");
  const { run, suspension, action, expires } = token;
  if (suspension === testSuspension)
    throw new PublicError(410, "resume_url_of_test", `this URL is of a test of the workflow, ${run}: a test does not wait for requests`);
  if (expires <= now) {
    const at = new Date(expires).toISOString();
    throw new PublicError(410, "resume_url_expired", `this URL expired at ${at}: the run no longer waits for it`);
  }
  return { run, suspension, action };
}

interface Waiting {
  readonly config: Pick<IngressConfig, "resumeTimeoutMs">;
  readonly ports: Pick<IngressPorts, "answers" | "newRunId">;
  /** Waiting requests, by owner. */
  readonly waiting: Budget;
}

/**
 * Stores the request, and waits until the runner has resumed or canceled the run. The runner decides, because it applies requests to a run
 * one after the other: of two at once, one has an effect.
 *
 * @param store calls back for the subject of the outcome after reading the request
 * @returns undefined if no runner can decide in time: the request is stored, and may still have an effect
 * @throws PublicError 410 with what happened, if the request has no effect
 */
export async function awaitResumed(
  endpoint: Endpoint,
  { config, ports, waiting }: Waiting,
  store: (answerTo: () => string) => Promise<void>,
): Promise<"done" | undefined> {
  const { promise, resolve } = Promise.withResolvers<ResumeOutcome | undefined>();
  // To make room for another owner: the request is stored, as if no runner could decide in time.
  const permit = waiting.open(ownerOf(endpoint), () => {
    resolve(undefined);
    return true;
  });
  let listening: { readonly subject: string; end(): void } | undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    await store(() => {
      if (!permit.take(1)) throw overloaded("too many requests wait for answers of this endpoint");
      listening = ports.answers.listen(ports.newRunId(), (answer) => {
        if (answer.kind === "resume") resolve(answer.outcome);
      });
      return listening.subject;
    });
    timer = setTimeout(() => resolve(undefined), config.resumeTimeoutMs);
    const outcome = await promise;
    if (outcome?.outcome === "gone") throw new PublicError(410, outcome.code, outcome.message);
    return outcome?.outcome;
  } finally {
    clearTimeout(timer);
    listening?.end();
    permit.release();
  }
}

function isSignedWith(key: string, token: ResumeToken & { readonly signature: string }): boolean {
  const given = Buffer.from(token.signature, "base64url");
  const expected = createHmac("sha256", key).update(signedText(token)).digest();
  return given.length === expected.length && timingSafeEqual(given, expected);
}
