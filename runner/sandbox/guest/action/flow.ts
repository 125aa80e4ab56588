import { post } from "../runtime/bridge.ts";
import { ruleTypeError } from "../runtime/errors.ts";
import { inspect } from "../node/inspect/inspect.ts";
import type { ActionInputs } from "./action-inputs.ts";
import type { IsRunning } from "../runtime/still-running.ts";

/** URLs that continue or cancel the run once it is suspended. */
interface ResumeUrls {
  readonly resume_url: string;
  readonly cancel_url: string;
}

/**
 * `$.flow`: what happens after the step. The last call counts. No call ends the step: the code after it goes on.
 */
export interface FlowHelper {
  /** Ends the run of the workflow after this step. */
  exit(reason?: unknown): void;
  /** Continues with the next step after so many ms. */
  delay(ms: unknown, context?: unknown): ResumeUrls;
  /** Waits for a request to one of the URLs, so many ms, a day without. */
  suspend(ms?: unknown): ResumeUrls;
  /** Runs this step again after so many ms, a day without; `context` is then in `$.context.run.context`. */
  rerun(ms?: unknown, context?: unknown, maxRetries?: unknown): ResumeUrls;
}

/** The host's `maxSuspensionMs` and `defaultSuspensionMs`. */
const maxMs = 366 * 86_400_000;
const defaultMs = 86_400_000;
/** Characters. */
const maxReason = 4096;
const maxContext = 64 * 1024;
const maxShown = 100;
const { stringify } = JSON;
const { isInteger } = Number;

export function flowHelper({ resumeUrl, cancelUrl }: ActionInputs, isRunning: IsRunning): FlowHelper {
  const record = (kind: string, ...args: readonly (string | number | null)[]): ResumeUrls => {
    if (isRunning(`$.flow.${kind}()`)) post("flow", kind, ...args);
    return { resume_url: resumeUrl, cancel_url: cancelUrl };
  };
  return {
    exit: (reason) => void record("exit", toReason(reason)),
    delay: (ms) => record("delay", toMs("delay", ms)),
    suspend: (ms) => record("suspend", ms === undefined || ms === null ? null : toMs("suspend", ms)),
    rerun: (ms, context, maxRetries) => record("rerun", toMs("rerun", ms ?? defaultMs), toContext(context), toCount(maxRetries)),
  };
}

function toReason(reason: unknown): string | null {
  if (reason === undefined || reason === null) return null;
  const text = typeof reason === "string" ? reason : inspect(reason);
  return text.length > maxReason ? `${text.slice(0, maxReason)}…` : text;
}

function toMs(name: string, given: unknown): number {
  const ms = typeof given === "string" && given.trim() !== "" ? Number(given) : given;
  if (typeof ms === "number" && ms >= 0 && ms <= maxMs) return ms;
  throw invalid(name, "time", `must be a number of milliseconds from 0 to ${maxMs} (366 days), got ${shown(given)}`);
}

function toContext(context: unknown): string | null {
  if (context === undefined || context === null) return null;
  let text: string | undefined;
  try {
    text = stringify(context) as string | undefined;
  } catch (error) {
    throw invalid("rerun", "context", `cannot be made JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (text === undefined) throw invalid("rerun", "context", `is a ${typeof context}, which JSON cannot hold`);
  if (text.length <= maxContext) return text;
  throw invalid("rerun", "context", `has ${text.length} characters of JSON; the limit is ${maxContext}`);
}

function toCount(given: unknown): number | null {
  if (given === undefined || given === null) return null;
  if (isInteger(given) && (given as number) >= 0) return given as number;
  throw invalid("rerun", "maximum of retries", `must be an integer of at least 0, got ${shown(given)}`);
}

const shown = (value: unknown): string => inspect(value).slice(0, maxShown);

const invalid = (name: string, what: string, problem: string): Error =>
  ruleTypeError("invalid_flow", `the ${what} given to $.flow.${name}() ${problem}`);
