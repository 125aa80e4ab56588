/** Delays between attempts: they double from the first to the maximum. */
export interface Backoff {
  readonly firstMs: number;
  /** Default: `firstMs`, a constant delay. */
  readonly maxMs?: number;
}

export interface RetryOptions extends Backoff {
  /** Ends the retries: a pending delay ends at once, a running attempt is awaited. */
  readonly signal?: AbortSignal | undefined;
  /** Default: unlimited. */
  readonly maxAttempts?: number;
  /** Gives up at the first failure after this time. Default: unlimited. */
  readonly withinMs?: number;
  /** Errors that another attempt can change. Default: all. */
  readonly isTransient?: (error: unknown) => boolean;
  /** The delay that a server requested with its error, for example by `Retry-After`; replaces the backoff of this attempt. */
  readonly requestedDelayMs?: (error: unknown) => number | undefined;
  /** Called before each delay, to log the error. Not called for the error that is thrown. */
  readonly onFailure?: (error: unknown, failures: number) => void;
}

const maxDoublings = 30;

/** The delay after so many consecutive failures, from 1: half of it fixed, half random, so that clients do not retry in step. */
export function backoffMs(failures: number, { firstMs, maxMs = firstMs }: Backoff, random: number): number {
  return Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, maxDoublings)) * (0.5 + random / 2);
}

/**
 * Attempts an action until it succeeds. The first attempt is made in any case, even after an abort.
 *
 * @throws the last error, when it is not transient, a limit is reached, or the signal aborts
 */
export async function retry<Result>(attempt: () => Promise<Result>, options: RetryOptions): Promise<Result> {
  const { signal, maxAttempts = Infinity, withinMs = Infinity, isTransient = () => true, onFailure } = options;
  const deadline = performance.now() + withinMs;
  const isAborted = (): boolean => signal?.aborted === true;
  for (let failures = 1; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      const isLast = failures >= maxAttempts || performance.now() >= deadline;
      if (isLast || isAborted() || !isTransient(error)) throw error;
      onFailure?.(error, failures);
      await pause(options.requestedDelayMs?.(error) ?? backoffMs(failures, options, Math.random()), signal);
      if (isAborted()) throw error;
    }
  }
}

/** Polls a condition until it holds. @returns false when it does not hold in time */
export async function waitUntil(condition: () => boolean | Promise<boolean>, withinMs: number, everyMs = 10): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() >= deadline) return false;
    await pause(everyMs);
  }
  return true;
}

/** Resolves as soon as the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Resolves after the delay, or as soon as the signal aborts. Never rejects. */
export function pause(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, delayMs);
    signal?.addEventListener("abort", end, { once: true });
  });
}
