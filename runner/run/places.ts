export interface AskedPlace {
  /** Resolves when it may be used; never after `leave`. */
  readonly granted: Promise<void>;
  leave(): void;
}

/** Places of the scheduler beside the one that an invocation has. @param key unique among those that are asked for */
export interface Places {
  ask(key: string, owner: string): AskedPlace;
}
