interface UntilOptions {
  /** Is added to the error. */
  readonly more?: () => string;
  /** Default: less than a test may take. */
  readonly maxWaitMs?: number;
  readonly firstPauseMs?: number;
  /** Pauses grow to this: asking the system each time uses CPU time of it. */
  readonly maxPauseMs?: number;
}

/**
 * Waits for a condition.
 *
 * @param what the condition in words, for the error; its code by default
 * @throws when it does not hold in time
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what = String(condition),
  { more = () => "", maxWaitMs = 240_000, firstPauseMs = 10, maxPauseMs = 100 }: UntilOptions = {},
): Promise<void> {
  const deadline = performance.now() + maxWaitMs;
  for (let pauseMs = firstPauseMs; !(await condition()); pauseMs = Math.min(pauseMs * 1.5, maxPauseMs)) {
    if (performance.now() > deadline) throw new Error(`not within ${maxWaitMs} ms: ${what}\n${more()}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
