import { isLaterState, newQueueState, type QueueState } from "../../domain/delivery/ordered-queue.ts";
import type { CommitPosition } from "../../domain/source/deployment.ts";
import type { Delivery } from "../routing/delivery.ts";
import { OrderedQueue, type QueueParts } from "./ordered-queue.ts";
import type { Routes, Webhook } from "../routing/routes.ts";
import { untilDone } from "../settle.ts";

/** The lines of all ordered webhooks. None waits for another; one that is empty costs as much memory as what is known of its end. */
export class OrderedQueues {
  readonly #parts: QueueParts;
  readonly #lines = new Map<string, OrderedQueue>();
  readonly #ending = new Set<Promise<unknown>>();
  readonly #stopping = new AbortController();
  #stream = "";

  constructor(parts: QueueParts) {
    this.#parts = parts;
  }

  /**
   * Finds what is in line and goes on with it. What lies there for webhooks that are gone is removed.
   *
   * @param former the lines that this process had before, of which it may not have been able to store how far they came
   */
  async start(routes: Pick<Routes, "webhook">, former?: OrderedQueues): Promise<void> {
    const { stream, stored, states } = await this.#parts.ports.queueStore.load();
    this.#stream = stream;
    for (const [webhook, state] of states) {
      const own = former?.stateOf(webhook);
      this.#open(webhook, known(own !== undefined && isLaterState(own, state) ? own : state, stream));
    }
    for (const webhook of stored) if (!this.#lines.has(webhook)) this.#open(webhook, newQueueState(stream));
    for (const webhook of this.#lines.keys()) if (routes.webhook(webhook) === undefined) this.#end(webhook);
    for (const webhook of stored) void this.#resume(webhook); // Never rejects.
  }

  /** Resolves when they are stored. `position`: that of their commit. */
  append(webhook: string, deliveries: readonly Delivery[], position: CommitPosition | undefined): Promise<void> {
    return (this.#lines.get(webhook) ?? this.#open(webhook, newQueueState(this.#stream))).append(deliveries, position);
  }

  /** Attempts now what is at the head of its line and waits for its next attempt; false: it is not. */
  attemptNow(webhook: string, delivery: string): boolean {
    return this.#lines.get(webhook)?.attemptNow(delivery) === true;
  }

  /** A webhook's own entry has changed. One that is posted to elsewhere or anew, because somebody said so, is so at once. */
  changed(webhook: string, before: Webhook | undefined, after: Webhook | undefined): void {
    if (before === undefined) return;
    if (after === undefined) this.#end(webhook);
    else if (after.url !== before.url || after.enabledAt !== before.enabledAt) this.#lines.get(webhook)?.attemptNow();
  }

  stateOf(webhook: string): QueueState | undefined {
    return this.#lines.get(webhook)?.state;
  }

  /** Deliveries in all lines. */
  get length(): number {
    let length = 0;
    for (const line of this.#lines.values()) length += line.length;
    return length;
  }

  /** What is being posted has so long to end. What takes longer is told to the next owner as an attempt that fails when its time is up. */
  async stop(endsWithinMs: number): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#lines.values()].map((line) => line.stop(endsWithinMs)));
    await Promise.all(this.#ending);
  }

  #open(webhook: string, state: QueueState): OrderedQueue {
    const line = new OrderedQueue(webhook, state, this.#parts);
    this.#lines.set(webhook, line);
    return line;
  }

  async #resume(webhook: string): Promise<void> {
    const line = this.#lines.get(webhook);
    if (line !== undefined) await untilDone(() => line.resume(), { id: webhook }, this.#parts.ports, this.#stopping.signal);
  }

  /** The webhook is gone, and what is for it ends. What a crash leaves of it is removed at the next start. */
  #end(webhook: string): void {
    const line = this.#lines.get(webhook);
    this.#lines.delete(webhook);
    const { ports } = this.#parts;
    if (line === undefined) return;
    const remove = () => untilDone(() => ports.queueStore.deleteQueue(webhook), { id: webhook }, ports, this.#stopping.signal);
    const ending = line.end().then(remove);
    this.#ending.add(ending);
    void ending.then(() => this.#ending.delete(ending)); // Neither rejects.
  }
}

/** Sequences of a stream that was made anew say nothing; the commits that were done still do. */
function known(state: QueueState, stream: string): QueueState {
  if (state.stream === stream) return state;
  return { ...newQueueState(stream), number: state.number, ...(state.upTo === undefined ? {} : { upTo: state.upTo }) };
}
