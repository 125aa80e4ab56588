/** Both ends inclusive; without either, everything. */
export interface EventRange {
  readonly startId?: string;
  readonly endId?: string;
}

export interface EventFilter {
  /** "" is the default channel; undefined is all. */
  readonly channel?: string;
}
