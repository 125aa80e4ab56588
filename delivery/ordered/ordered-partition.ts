import { Unavailable } from "../../domain/errors.ts";
import type { Delivery } from "../routing/delivery.ts";
import { KeyedChains } from "../routing/keyed-chains.ts";
import type { Webhook } from "../routing/routes.ts";
import { settle } from "../settle.ts";
import { OrderedQueue, type QueueParts } from "./ordered-queue.ts";
import type { QueueKey } from "./ports.ts";

/** Time for posts in flight to end when another replica takes over. A replica has 3 s to hand over a partition. */
const postMs = 1_500;
/** A stalled replica of before may store what it had to, and NATS may be restored without the schedule of a head. */
const lookAgainMs = 60_000;

/** The ordered queues of the sources of one partition, while this replica holds it. */
export class OrderedPartition {
  readonly #partition: number;
  readonly #parts: Omit<QueueParts, "onIdle">;
  readonly #queues = new Map<string, OrderedQueue>();
  readonly #chains = new KeyedChains();
  readonly #stopping = new AbortController();
  readonly #isStarted = Promise.withResolvers<void>();
  #looking: NodeJS.Timeout | undefined;

  constructor(partition: number, parts: Omit<QueueParts, "onIdle">) {
    this.#partition = partition;
    this.#parts = parts;
  }

  /** Continues the work of the previous replica. Until then nothing is delivered. @throws Unavailable */
  async start(): Promise<void> {
    await this.#look();
    if (this.#stopping.signal.aborted) return;
    this.#isStarted.resolve();
    this.#looking = setInterval(() => void this.#look().catch(() => undefined), lookAgainMs).unref(); // The next time it may succeed.
  }

  /** Continues with all that is stored. Queues of deleted webhooks are removed. */
  async #look(): Promise<void> {
    const { ports, routes } = this.#parts;
    for (const key of await ports.queueStore.list(this.#partition)) {
      if (this.#stopping.signal.aborted) return;
      if (routes.webhook(key.webhook) === undefined) await ports.queueStore.removeAll(this.#partition, key.webhook);
      else this.#queue(key).look();
    }
  }

  /** Resolves once the deliveries, which have one source and one webhook, are delivered or stored. @throws when another replica has taken over */
  deliver(deliveries: readonly Delivery[]): Promise<void> {
    const [first] = deliveries;
    if (first === undefined) return Promise.resolve();
    const { listener: webhook, event } = first;
    const { source } = event;
    return this.#chains.append(nameOf(webhook, source), async (waitedMs) => {
      await this.#isStarted.promise;
      if (this.#stopping.signal.aborted) throw new Error("another replica has taken over the partition");
      return this.#queue({ partition: this.#partition, webhook, source }).deliver(deliveries, waitedMs);
    });
  }

  /** Attempts a delivery that is due. Resolves once its message can be acked. */
  async attemptDue(delivery: Delivery): Promise<void> {
    await this.#isStarted.promise;
    if (this.#stopping.signal.aborted) throw new Unavailable("this replica stops: the delivery is attempted by the next one");
    await this.#queues.get(nameOf(delivery.listener, delivery.event.source))?.attemptDue(delivery);
  }

  /** Applies a change of a webhook's own route. After another URL or enabling, next attempts are made at once. */
  changed(webhook: string, before: Webhook, after: Webhook | undefined): void {
    const { ports } = this.#parts;
    const queues = [...this.#queues.values()].filter(({ key }) => key.webhook === webhook);
    const act = async (): Promise<void> => {
      if (after === undefined) await ports.queueStore.removeAll(this.#partition, webhook);
      for (const queue of queues) await (after === undefined ? queue.forget() : queue.attemptSoon());
    };
    const isChanged = after === undefined || after.url !== before.url || after.enabledAt !== before.enabledAt;
    if (isChanged && queues.length > 0) void settle(act, { id: webhook }, ports, this.#stopping.signal); // Never rejects.
  }

  /** Starts no more attempts: what arrives from now on is stored. */
  retire(): void {
    clearInterval(this.#looking);
    for (const queue of this.#queues.values()) queue.retire();
  }

  async stop(): Promise<void> {
    this.retire();
    await Promise.all([...this.#queues.values()].map((queue) => queue.stop(postMs)));
    this.#stopping.abort();
    this.#isStarted.resolve();
  }

  #queue(key: QueueKey): OrderedQueue {
    const name = nameOf(key.webhook, key.source);
    const queue = this.#queues.get(name) ?? new OrderedQueue(key, { ...this.#parts, onIdle: () => this.#queues.delete(name) });
    this.#queues.set(name, queue);
    return queue;
  }
}

const nameOf = (webhook: string, source: string): string => `${webhook} ${source}`;
