export interface AskedPlace {
  /** Key in the scheduler. */
  readonly queue: string;
  /** Resolves when it may be used; never after `leave`. */
  readonly granted: Promise<void>;
  leave(): void;
}

/** Places of the scheduler beside the one that an invocation has. */
export interface Places {
  /** @param queue key of the queue of the invocation */
  ask(queue: string, owner: string): AskedPlace;
}
