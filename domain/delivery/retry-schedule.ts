const seconds = 1000;
const minutes = 60 * seconds;
const hours = 60 * minutes;

/**
 * Waits before the attempts after the first, which is made at once. There are ten attempts, the last about a day after the event.
 */
const waits: readonly { readonly delayMs: number; readonly because: string }[] = [
  { delayMs: 5 * seconds, because: "a connection was reset, a pod was replaced" },
  { delayMs: 30 * seconds, because: "a process restarts" },
  { delayMs: 2 * minutes, because: "a rolling deployment passes" },
  { delayMs: 10 * minutes, because: "a bad deployment is rolled back" },
  { delayMs: 30 * minutes, because: "an engineer is called and looks" },
  { delayMs: 1 * hours, because: "a short incident ends" },
  { delayMs: 3 * hours, because: "a long incident ends" },
  { delayMs: 6 * hours, because: "the next working day begins" },
  { delayMs: 12 * hours, because: "the last chance, a day after the event" },
];

export const maxAttempts = waits.length + 1;
/** An endpoint cannot delay an attempt longer than the longest wait. */
export const maxRetryAfterMs = 12 * hours;
/** Jitter in both directions, so that deliveries that failed together are not retried together. */
const jitter = 0.1;

/**
 * Milliseconds from the end of attempt number `attempt` (the first is 1) to the next one; undefined after the last, when the
 * delivery becomes a dead letter. `random` lies in [0, 1). A `Retry-After` makes the wait longer, never shorter: an endpoint that
 * always asks for one second would use up its attempts in ten.
 */
export function nextAttempt(attempt: number, random: number, retryAfterMs = 0): number | undefined {
  const wait = waits[attempt - 1];
  if (wait === undefined) return undefined;
  const delayMs = wait.delayMs * (1 - jitter + 2 * jitter * random);
  return Math.round(Math.max(delayMs, Math.min(retryAfterMs, maxRetryAfterMs)));
}

/** `Retry-After` of RFC 9110: seconds or an HTTP date; undefined for anything else. */
export function parseRetryAfter(header: string, nowMs: number): number | undefined {
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header) * seconds;
  if (!/[a-z]{3}/i.test(header)) return undefined;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
