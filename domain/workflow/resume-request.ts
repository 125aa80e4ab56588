/** What a `resume` invocation asks of a suspended run. */
export interface ResumeRequest {
  /** Id of the run, `r_…`. */
  readonly run: string;
  /** Number of the suspension. */
  readonly suspension: number;
  /** `wake`: its time has come. */
  readonly action: "wake" | "resume" | "cancel";
  /** NATS subject for the outcome, for the caller of a URL. Absent: no caller waits. */
  readonly answerTo?: string;
}

/** `done`: the run was resumed or canceled by this request. Otherwise why the URL has no effect. */
export type ResumeOutcome = { readonly outcome: "done" } | Gone;

export interface Gone {
  readonly outcome: "gone";
  readonly code: "resume_url_used" | "resume_url_expired" | "resume_url_replaced" | "run_ended";
  /** Names the run and times, nothing of its data. */
  readonly message: string;
}

/** Suspensions are numbered from 1. The URLs in a test have this number: a test does not wait. */
export const testSuspension = 0;

/** Parts of a resume or cancel URL: `<endpoint>/runs/<run>/<suspension>/<action>/<expires>/<signature>`. */
export interface ResumeToken extends ResumeRequest {
  readonly action: "resume" | "cancel";
  readonly answerTo?: never;
  /** Epoch ms after which the URL is refused. */
  readonly expires: number;
}

/** The text that is signed, with HMAC-SHA256 under the workflow's resume key. */
export const signedText = ({ run, suspension, action, expires }: ResumeToken): string => `${run}.${suspension}.${action}.${expires}`;

/** Path below the endpoint. @param signature base64url */
export const resumePath = (token: ResumeToken, signature: string): string =>
  `/runs/${token.run}/${token.suspension}/${token.action}/${token.expires}/${signature}`;

const pathPattern = /^\/runs\/(r_\w{1,57})\/(\d{1,12})\/(resume|cancel)\/(\d{1,15})\/([\w-]{43})$/;

/** Undefined if the path is no resume URL: then the request starts a run. */
export function parseResumePath(path: string): (ResumeToken & { readonly signature: string }) | undefined {
  const match = pathPattern.exec(path);
  if (match === null) return undefined;
  const [, run = "", suspension, action, expires, signature = ""] = match;
  return { run, suspension: Number(suspension), action: action === "cancel" ? "cancel" : "resume", expires: Number(expires), signature };
}

/** Resume URLs of a run without a limit of its own: a day, as `$.flow.suspend()`. */
export const defaultSuspensionMs = 86_400_000;
/** Longest delay or suspension. Older versions of a workflow are kept as long. */
export const maxSuspensionMs = 366 * 86_400_000;
