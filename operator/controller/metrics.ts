/**
 * Result of a pass. `conflict` and `error` are retried; a conflict (the resource changed or was deleted during the pass) is expected.
 * `again` asks for another pass later.
 */
export type PassResult = "done" | "again" | "conflict" | "error";

/** Metrics of a queue, named after controller-runtime's. Times in seconds. */
export interface QueueMetrics {
  /** A key was queued that was not queued already. */
  added(): void;
  /** A key started after waiting this long. */
  waited(seconds: number): void;
  /** A key failed and will be retried. */
  retried(): void;
  /** Keys ready to run, whenever that number changes. */
  depth(keys: number): void;
}

export interface ControllerMetrics {
  readonly queue: QueueMetrics;
  reconciled(result: PassResult, seconds: number): void;
}

const nothing = (): void => undefined;

export const noQueueMetrics: QueueMetrics = { added: nothing, waited: nothing, retried: nothing, depth: nothing };
export const noControllerMetrics: ControllerMetrics = { queue: noQueueMetrics, reconciled: nothing };
