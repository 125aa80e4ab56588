/** Both ends inclusive; everything without either. */
export interface EventRange {
  readonly startId?: string;
  readonly endId?: string;
}

export interface EventFilter {
  /** "" is the default channel; undefined: all. */
  readonly channel?: string;
}
