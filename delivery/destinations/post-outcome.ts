import type { ExternalOutcome } from "./destination.ts";
import type { PostResult } from "./ports.ts";

/** 2xx is delivered, 410 is gone; everything else is retried. @param redirectAdvice what to do about a redirect */
export function outcomeOf(result: PostResult, redirectAdvice: string): ExternalOutcome {
  if (result.outcome === "unreachable")
    return { outcome: "retry", status: null, error: `${result.code}: ${result.message}`, retryAfter: undefined };
  const { status, retryAfter } = result;
  if (status >= 200 && status < 300) return { outcome: "delivered", status };
  if (status === 410) return { outcome: "listener_gone", status, error: "the endpoint answered 410 Gone" };
  const error = status >= 300 && status < 400 ? `the endpoint answered ${status}: ${redirectAdvice}` : `the endpoint answered ${status}`;
  return { outcome: "retry", status, error, retryAfter };
}
