import { Unavailable } from "../../domain/errors.ts";
import type { Delivery } from "../routing/delivery.ts";
import { encodeBatch } from "./batches.ts";
import type { OrderedQueuePorts, QueueKey } from "./ports.ts";

/**
 * Stores batches at the end of a queue. Each follows the one that this replica knows as the last: a replica that had stalled cannot store
 * events behind newer ones.
 */
export class BatchWriter {
  readonly #key: QueueKey;
  readonly #ports: Pick<OrderedQueuePorts, "queueStore" | "replicas">;
  /** Sequence of the last batch; 0 if there is none, undefined if it must be read. */
  #tail: number | undefined;
  #removedUpTo = 0;
  /** The last batch was another one than this replica knew. */
  #isOvertaken = false;

  constructor(key: QueueKey, ports: Pick<OrderedQueuePorts, "queueStore" | "replicas">) {
    this.#key = key;
    this.#ports = ports;
  }

  /** @returns false if another replica has stored batches, and this one is retiring. @throws Unavailable */
  async append(deliveries: readonly Delivery[], isRetiring: () => boolean): Promise<boolean> {
    const { queueStore, replicas } = this.#ports;
    const text = encodeBatch(deliveries);
    while (!this.#isOvertaken || !isRetiring()) {
      const isKnown = this.#tail !== undefined;
      if (this.#tail === undefined) {
        const last = await queueStore.findLast(this.#key);
        this.#tail = last?.seq ?? 0;
        // Its ack was lost, or a crash repeats it.
        if (last?.text === text && last.seq > this.#removedUpTo) return true;
      }
      const after = this.#tail;
      this.#tail = undefined;
      const seq = await queueStore.append(this.#key, text, deliveries.length, after);
      if (seq !== undefined) {
        this.#tail = seq;
        this.#isOvertaken = false;
        return true;
      }
      this.#isOvertaken ||= isKnown;
      if (!replicas.isCurrent()) throw new Unavailable("other replicas may take this one for dead, so it stores nothing");
    }
    return false;
  }

  /** Batches are removed from the first on. */
  removed(seq: number): void {
    this.#removedUpTo = seq;
    if (this.#tail === seq) this.#tail = 0;
  }
}
