import { partitionOf } from "../../domain/invocation/partition.ts";
import { pause } from "../../domain/retry.ts";
import { partitionCount } from "../../domain/subjects.ts";
import { decodeDelivery, encodeDelivery, type Delivery } from "../routing/delivery.ts";
import type { Replicas } from "../routing/ports.ts";
import type { Webhook } from "../routing/routes.ts";
import { settle } from "../settle.ts";
import { encodeBatch } from "./batches.ts";
import { OrderedPartition } from "./ordered-partition.ts";
import type { QueueParts } from "./queue-parts.ts";
import type { FormerQueues, OrderedAccess, OrderedQueuePorts, OrderedRequests } from "./ports.ts";

/** In versions with the stream ORDERED, the work for ordered webhooks was shared like one more partition. */
const formerPartition = partitionCount;
const formerIntervalMs = 5_000;

export interface OrderedParts extends Omit<QueueParts, "onIdle"> {
  readonly ports: OrderedQueuePorts & {
    readonly replicas: Pick<Replicas, "heldByOthers">;
    readonly orderedRequests: OrderedRequests;
    readonly formerQueues: FormerQueues;
  };
  readonly signal: AbortSignal;
}

export interface OpenQueues {
  /** Starts no more attempts: what arrives from now on is stored. */
  retire(): void;
  /** Call it once nothing more arrives. */
  stop(): Promise<void>;
}

/**
 * Deliveries to ordered webhooks. The replica that holds the partition of a source delivers the source's events, so nothing is shared.
 * Other replicas send it the replayed and scheduled events that they have, and what is due.
 */
export class OrderedWebhooks {
  readonly #parts: OrderedParts;
  readonly #open = new Map<number, OrderedPartition>();

  constructor(parts: OrderedParts) {
    this.#parts = parts;
  }

  /** Continues the work of the previous replica on a partition. @throws Unavailable */
  async open(partition: number): Promise<OpenQueues> {
    const { ports } = this.#parts;
    const queues = new OrderedPartition(partition, this.#parts);
    const opening = queues.start().then(() => ports.orderedRequests.serve(partition, localAccess(queues)));
    // Queues that stayed would attempt beside those of the next try, or of another replica.
    const requests = await opening.catch((error: unknown) => queues.stop().then(() => Promise.reject(error)));
    this.#open.set(partition, queues);
    const moving = new AbortController();
    if (partition === 0) void this.#moveFormerLater(moving.signal); // Never rejects.
    return {
      retire: () => queues.retire(),
      stop: async () => {
        moving.abort();
        if (this.#open.get(partition) === queues) this.#open.delete(partition);
        await Promise.all([requests.stop(), queues.stop()]);
      },
    };
  }

  /** The queues of a partition that this replica holds. */
  at(partition: number): OrderedPartition | undefined {
    return this.#open.get(partition);
  }

  /** Delivers events that belong to no commit. Resolves once they are delivered or stored. */
  async append(deliveries: readonly Delivery[]): Promise<void> {
    const { ports, signal } = this.#parts;
    for (const delivery of deliveries) {
      const append = (): Promise<void> => this.#access(delivery).append(encodeDelivery(delivery));
      if (!(await settle(append, delivery, ports, signal))) throw new Error("stopped before the delivery was queued");
    }
  }

  /** Attempts a delivery that is due. Resolves once its message can be acked. @throws Unavailable */
  attemptDue(delivery: Delivery): Promise<void> {
    return this.#access(delivery).attempt(encodeDelivery(delivery));
  }

  /** Applies a change of a webhook's own route. */
  changed(webhook: string, before: Webhook | undefined, after: Webhook | undefined): void {
    if (before !== undefined) for (const queues of this.#open.values()) queues.changed(webhook, before, after);
  }

  /** Moves what an earlier version has queued, before anything is delivered, unless a replica of that version still works on it. @throws Unavailable */
  async moveFormer(): Promise<void> {
    const { queueStore } = this.#parts.ports;
    await this.#move(async (delivery) => {
      const { listener: webhook, event } = delivery;
      const key = { partition: partitionOf(event.source), webhook, source: event.source };
      const after = (await queueStore.findLast(key))?.seq ?? 0;
      await queueStore.append(key, encodeBatch([delivery]), 1, after);
    });
  }

  /** Moves what replicas of an earlier version leave behind when they stop. */
  async #moveFormerLater(signal: AbortSignal): Promise<void> {
    for (let isOver = false; !isOver && !signal.aborted;) {
      await pause(formerIntervalMs, signal);
      isOver = await this.#move((delivery) => this.append([delivery])).catch(() => false);
    }
  }

  /** @returns false if a replica of the earlier version works. A message is removed last: a crash repeats it. */
  async #move(store: (delivery: Delivery) => Promise<void>): Promise<boolean> {
    const { formerQueues, replicas } = this.#parts.ports;
    if ((await replicas.heldByOthers()).has(formerPartition)) return false;
    for (let batch = await formerQueues.next(); batch !== undefined; batch = await formerQueues.next()) {
      for (const delivery of batch.deliveries) await store({ ...decodeDelivery(delivery), inOrder: true });
      await batch.remove();
    }
    return true;
  }

  #access({ event }: Delivery): OrderedAccess {
    const partition = partitionOf(event.source);
    const queues = this.#open.get(partition);
    return queues === undefined ? this.#parts.ports.orderedRequests.remote(partition) : localAccess(queues);
  }
}

const localAccess = (queues: OrderedPartition): OrderedAccess => ({
  append: (text) => queues.append(decodeDelivery(text)),
  attempt: (text) => queues.attemptDue(decodeDelivery(text)),
});
