/** The source of time, injected for tests. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Valid epoch ms, before and after 1970: within Date's range, less a margin because readers add to them. Commits with others are ignored. */
export const maxTimestampMs = 8e15;
