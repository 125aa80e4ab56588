import { isLaterState, newQueueState, type QueueState } from "../../domain/delivery/ordered-queue.ts";
import type { CommitPosition } from "../../domain/source/deployment.ts";
import type { Delivery } from "../routing/delivery.ts";
import type { Routes, Webhook } from "../routing/routes.ts";
import { settle } from "../settle.ts";
import { OrderedQueue, type QueueParts } from "./ordered-queue.ts";
import { OrderedShares } from "./ordered-shares.ts";

export interface QueuesParts extends Omit<QueueParts, "shares"> {
  /** Undefined: the webhook is unknown. */
  readonly ownerOf: (webhook: string) => string | undefined;
}

/** The queues of all ordered webhooks, which do not wait for each other. */
export class OrderedQueues {
  readonly #parts: QueueParts;
  readonly #queues = new Map<string, OrderedQueue>();
  readonly #ending = new Set<Promise<unknown>>();
  readonly #stopping = new AbortController();
  #stream = "";

  constructor(parts: QueuesParts) {
    const { ownerOf, ports } = parts;
    this.#parts = { ...parts, shares: new OrderedShares(ports.queueStore, ownerOf, (owner) => this.#bytesOf(owner, ownerOf)) };
  }

  /**
   * Loads the stored queues and continues with them. Queues of deleted webhooks are removed.
   *
   * @param previous the queues that this process held before; it may have been unable to save their states
   */
  async start(routes: Pick<Routes, "webhook">, previous?: OrderedQueues): Promise<void> {
    const { stream, stored, states } = await this.#parts.ports.queueStore.load();
    this.#stream = stream;
    for (const [webhook, state] of states) {
      const own = previous?.stateOf(webhook);
      this.#open(webhook, stateInStream(own !== undefined && isLaterState(own, state) ? own : state, stream));
    }
    for (const webhook of stored) if (!this.#queues.has(webhook)) this.#open(webhook, newQueueState(stream));
    for (const webhook of this.#queues.keys()) if (routes.webhook(webhook) === undefined) this.#end(webhook);
    for (const webhook of stored) void this.#resume(webhook); // Never rejects.
  }

  /** Resolves once the deliveries are stored. `position`: that of their commit. */
  append(webhook: string, deliveries: readonly Delivery[], position: CommitPosition | undefined): Promise<void> {
    const queue = this.#queues.get(webhook) ?? this.#open(webhook, newQueueState(this.#stream));
    return queue.append(deliveries, position);
  }

  /** Makes the next attempt of the delivery now. Returns false unless it is the head of its queue and waits for an attempt. */
  attemptNow(webhook: string, delivery: string): boolean {
    return this.#queues.get(webhook)?.attemptNow(delivery) === true;
  }

  /** Applies a change of a webhook's own route. After another URL or enabling, the next attempt is made at once. */
  changed(webhook: string, before: Webhook | undefined, after: Webhook | undefined): void {
    if (before === undefined) return;
    if (after === undefined) this.#end(webhook);
    else if (after.url !== before.url || after.enabledAt !== before.enabledAt) this.#queues.get(webhook)?.attemptNow();
  }

  stateOf(webhook: string): QueueState | undefined {
    return this.#queues.get(webhook)?.state;
  }

  /** Number of deliveries in all queues. */
  get length(): number {
    let length = 0;
    for (const queue of this.#queues.values()) length += queue.length;
    return length;
  }

  /** Attempts in flight have `endsWithinMs` to end. A slower one is saved as an attempt that fails at its timeout. */
  async stop(endsWithinMs: number): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#queues.values()].map((queue) => queue.stop(endsWithinMs)));
    await Promise.all(this.#ending);
  }

  /** Bytes of the deliveries in all queues of an owner. */
  #bytesOf(owner: string | undefined, ownerOf: QueuesParts["ownerOf"]): number {
    let bytes = 0;
    for (const [webhook, queue] of this.#queues) if (queue.bytes > 0 && ownerOf(webhook) === owner) bytes += queue.bytes;
    return bytes;
  }

  #open(webhook: string, state: QueueState): OrderedQueue {
    const queue = new OrderedQueue(webhook, state, this.#parts);
    this.#queues.set(webhook, queue);
    return queue;
  }

  async #resume(webhook: string): Promise<void> {
    const queue = this.#queues.get(webhook);
    if (queue !== undefined) await settle(() => queue.resume(), { id: webhook }, this.#parts.ports, this.#stopping.signal);
  }

  /** Ends the queue of a deleted webhook and removes its messages. After a crash, the next start removes the rest. */
  #end(webhook: string): void {
    const queue = this.#queues.get(webhook);
    this.#queues.delete(webhook);
    const { ports } = this.#parts;
    if (queue === undefined) return;
    const remove = () => settle(() => ports.queueStore.deleteQueue(webhook), { id: webhook }, ports, this.#stopping.signal);
    const ending = queue.end().then(remove);
    this.#ending.add(ending);
    void ending.then(() => this.#ending.delete(ending)); // Neither rejects.
  }
}

/** The state, usable in `stream`. If the stream was created again, sequences have no meaning, but the commits that are done still do. */
function stateInStream(state: QueueState, stream: string): QueueState {
  if (state.stream === stream) return state;
  const { number, bytes = 0 } = state;
  return { ...newQueueState(stream), number, bytes, ...(state.upTo === undefined ? {} : { upTo: state.upTo }) };
}
