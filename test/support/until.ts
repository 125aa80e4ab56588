/** Pauses grow from the first to the maximum: asking the system each time uses CPU time of it. */
interface Pauses {
  readonly firstPauseMs?: number;
  readonly maxPauseMs?: number;
}

/** Less than a test may take. */
const maxWaitMs = 240_000;

/** Waits for a condition. @param more is added to the error */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  more: () => string = () => "",
  { firstPauseMs = 10, maxPauseMs = 200 }: Pauses = {},
): Promise<void> {
  const deadline = performance.now() + maxWaitMs;
  for (let pauseMs = firstPauseMs; !(await condition()); pauseMs = Math.min(pauseMs * 1.5, maxPauseMs)) {
    if (performance.now() > deadline) throw new Error(`not within ${maxWaitMs} ms: ${what}\n${more()}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
