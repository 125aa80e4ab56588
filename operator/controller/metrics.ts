/**
 * What came of a pass. `conflict` and `error` are retried; a conflict (the resource changed or was deleted during the pass) is ordinary.
 * `again` asks for another pass after a while.
 */
export type PassResult = "done" | "again" | "conflict" | "error";

/** What a queue tells of itself; names in the spirit of controller-runtime's. All times in seconds. */
export interface QueueMetrics {
  /** A key came in that was not waiting already. */
  added(): void;
  /** A key was taken up after this time. */
  waited(seconds: number): void;
  /** A key failed and will be tried again. */
  retried(): void;
  /** Keys ready to be taken up, whenever that changes. */
  depth(keys: number): void;
}

export interface ControllerMetrics {
  readonly queue: QueueMetrics;
  reconciled(result: PassResult, seconds: number): void;
}

const nothing = (): void => undefined;

export const silentQueue: QueueMetrics = { added: nothing, waited: nothing, retried: nothing, depth: nothing };
export const silentController: ControllerMetrics = { queue: silentQueue, reconciled: nothing };
