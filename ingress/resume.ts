import { createHmac, timingSafeEqual } from "node:crypto";
import type { Endpoint } from "../domain/source/deployment.ts";
import { parseResumePath, signedText, type ResumeRequest, type ResumeToken } from "../domain/workflow/resume-request.ts";
import { PublicError } from "./errors.ts";
import type { Target } from "./http-event.ts";

/**
 * What a request to a resume or cancel URL asks of a suspended run; undefined for any other request. Whether the run is still suspended is
 * decided by the runner: a URL that was used before, or whose run has continued, has no effect.
 *
 * @param now epoch ms
 * @throws PublicError 404 if the URL is forged, 410 if it has expired
 */
export function requestedResume({ path }: Target, { workflow }: Endpoint, now: number): ResumeRequest | undefined {
  const token = workflow === undefined ? undefined : parseResumePath(path);
  if (token === undefined || workflow === undefined) return undefined;
  if (!isSignedWith(workflow.resumeKey, token)) throw new PublicError(404, "resume_url_invalid", "this URL belongs to no suspended run");
  const { run, suspension, action, expires } = token;
  if (expires <= now) {
    const at = new Date(expires).toISOString();
    throw new PublicError(410, "resume_url_expired", `this URL expired at ${at}: the run no longer waits for it`);
  }
  return { run, suspension, action };
}

function isSignedWith(key: string, token: ResumeToken & { readonly signature: string }): boolean {
  const given = Buffer.from(token.signature, "base64url");
  const expected = createHmac("sha256", key).update(signedText(token)).digest();
  return given.length === expected.length && timingSafeEqual(given, expected);
}
