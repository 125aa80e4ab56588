/** Where time comes from. Injected, so that rules which read it stay testable. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
