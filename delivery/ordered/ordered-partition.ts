import { pause } from "../../domain/retry.ts";
import type { Delivery } from "../routing/delivery.ts";
import { KeyedChains } from "../routing/keyed-chains.ts";
import type { Webhook } from "../routing/routes.ts";
import { settle } from "../settle.ts";
import { OrderedQueue } from "./ordered-queue.ts";
import type { ListScheduled, QueueParts } from "./queue-parts.ts";
import type { QueueKey } from "./ports.ts";

/** Time for posts in flight to end when another replica takes over. A replica has 3 s to hand over a partition. */
const postMs = 1_500;
/** A replica that had stalled may still store its batches, and a restored NATS may lack the schedule of a head. */
const rereadEveryMs = 60_000;

/** The ordered queues of the sources of one partition, while this replica holds it. */
export class OrderedPartition {
  readonly #partition: number;
  readonly #parts: Omit<QueueParts, "onIdle">;
  readonly #queues = new Map<string, OrderedQueue>();
  readonly #chains = new KeyedChains();
  readonly #stopping = new AbortController();
  readonly #retiring = new AbortController();
  readonly #appending = new Map<string, Promise<void>>();
  #rereading: Promise<void> = Promise.resolve();

  constructor(partition: number, parts: Omit<QueueParts, "onIdle">) {
    this.#partition = partition;
    this.#parts = parts;
  }

  /** Continues the work of the previous replica. @throws Unavailable */
  async start(): Promise<void> {
    await this.#readStored();
    this.#rereading = this.#reread();
  }

  /** Never rejects. */
  async #reread(): Promise<void> {
    const { signal } = this.#retiring;
    while (!signal.aborted) {
      await pause(rereadEveryMs * (0.75 + Math.random() / 2), signal);
      if (!signal.aborted) await this.#readStored().catch((error: unknown) => this.#report(error));
    }
  }

  #report(error: unknown): void {
    this.#parts.ports.log.warn(
      { op: "ordered.read", partition: this.#partition, err: error },
      "the stored ordered queues cannot be read, trying again",
    );
  }

  /** Continues with all that is stored. Queues of deleted webhooks are removed. */
  async #readStored(): Promise<void> {
    const { ports, routes } = this.#parts;
    const stored = await ports.queueStore.list(this.#partition);
    const isDeleted = ({ webhook }: QueueKey): boolean => routes.webhook(webhook) === undefined;
    for (const webhook of new Set(stored.filter(isDeleted).map((key) => key.webhook)))
      await ports.queueStore.removeAll(this.#partition, webhook);
    if (this.#retiring.signal.aborted) return;
    const listScheduled = oncePerWebhook((webhook) => ports.queueStore.listScheduled(webhook));
    for (const key of stored) if (!isDeleted(key)) this.#queue(key).readStored(listScheduled);
  }

  /** Resolves once the deliveries, which have one source and one webhook, are delivered or stored. @throws when another replica has taken over */
  deliver(deliveries: readonly Delivery[]): Promise<void> {
    const [first] = deliveries;
    if (first === undefined) return Promise.resolve();
    const { listener: webhook, event } = first;
    const { source } = event;
    return this.#chains.append(nameOf(webhook, source), (waitedMs) => {
      if (this.#stopping.signal.aborted) return Promise.reject(new Error("another replica has taken over the partition"));
      return this.#queue({ partition: this.#partition, webhook, source }).deliver(deliveries, waitedMs);
    });
  }

  /** Delivers an event that belongs to no commit. One that is requested again while it is being stored is stored once. */
  append(delivery: Delivery): Promise<void> {
    const appending = this.#appending.get(delivery.id) ?? this.deliver([delivery]);
    this.#appending.set(delivery.id, appending);
    return appending.finally(() => this.#appending.delete(delivery.id));
  }

  /** Attempts a delivery that is due. Resolves once its message can be acked. */
  async attemptDue(delivery: Delivery): Promise<void> {
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
    this.#retiring.abort();
    for (const queue of this.#queues.values()) queue.retire();
  }

  async stop(): Promise<void> {
    this.retire();
    await Promise.all([this.#rereading, ...[...this.#queues.values()].map((queue) => queue.stop(postMs))]);
    this.#stopping.abort();
  }

  #queue(key: QueueKey): OrderedQueue {
    const name = nameOf(key.webhook, key.source);
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const onIdle = (): void => {
      if (this.#queues.get(name) === queue) this.#queues.delete(name);
    };
    const queue = new OrderedQueue(key, { ...this.#parts, onIdle });
    this.#queues.set(name, queue);
    if (this.#retiring.signal.aborted) queue.retire();
    return queue;
  }
}

/**
 * A list may be long, and many queues have the same webhook: they share one while it is being read. An older one lacks what an attempt has
 * scheduled since.
 */
function oncePerWebhook(list: ListScheduled): ListScheduled {
  const lists = new Map<string, Promise<ReadonlySet<string>>>();
  return (webhook) => {
    const listed = lists.get(webhook) ?? list(webhook);
    lists.set(webhook, listed);
    const forget = (): void => void lists.delete(webhook);
    listed.then(forget, forget);
    return listed;
  };
}

const nameOf = (webhook: string, source: string): string => `${webhook} ${source}`;
