import type { QueueKey, StoredBatch } from "../../delivery/ordered/ports.ts";
import type { Feed } from "./feed.ts";
import { startedAt } from "./process.ts";
import type { Random } from "./random.ts";
import type { Task, VirtualTime } from "./virtual-time.ts";

export interface DueMessage {
  readonly seq: number;
  readonly webhook: string;
  readonly delivery: string;
  readonly text: string;
}

interface Batch extends StoredBatch {
  readonly count: number;
}

interface ScheduledDelivery {
  readonly webhook: string;
  readonly delivery: string;
  readonly text: string;
  readonly due: Task;
}

const duplicateWindowMs = 120_000;
/** A due message that its replica neither acks nor says to be at work on is handed to another one. */
const ackWaitMs = 3_500;

/** The stream DELIVERIES: schedules, due messages, and the queues of ordered webhooks. */
export class DeliveriesModel {
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #scheduled = new Map<string, ScheduledDelivery>();
  readonly #due = new Map<number, { readonly message: DueMessage; extendedAt: number }>();
  readonly #readers = new Set<Feed<DueMessage>>();
  readonly #queues = new Map<string, { readonly key: QueueKey; readonly batches: Batch[]; last: number }>();
  readonly #known = new Map<string, number>();
  #seq = 0;

  constructor(time: VirtualTime, random: Random) {
    this.#time = time;
    this.#random = random;
  }

  /** Messages of all kinds. */
  get size(): number {
    return this.#scheduled.size + this.#due.size + [...this.#queues.values()].reduce((sum, { batches }) => sum + batches.length, 0);
  }

  /** @param atMs epoch ms by the clock of the process */
  schedule(webhook: string, delivery: string, text: string, atMs: number, messageId: string): void {
    const knownAt = this.#known.get(messageId);
    if (knownAt !== undefined && this.#time.now - knownAt < duplicateWindowMs) return;
    this.#known.set(messageId, this.#time.now);
    const name = nameOf(webhook, delivery);
    this.#scheduled.get(name)?.due.cancel();
    const due = this.#time.after(atMs - startedAt - this.#time.now, () => {
      this.#scheduled.delete(name);
      const message = { seq: ++this.#seq, webhook, delivery, text };
      this.#due.set(message.seq, { message, extendedAt: this.#time.now });
      this.#handOut(message.seq);
    });
    this.#scheduled.set(name, { webhook, delivery, text, due });
  }

  withdraw(webhook: string, delivery: string): void {
    const name = nameOf(webhook, delivery);
    this.#scheduled.get(name)?.due.cancel();
    this.#scheduled.delete(name);
  }

  findScheduled(webhook: string, delivery: string): string | undefined {
    return this.#scheduled.get(nameOf(webhook, delivery))?.text;
  }

  listScheduled(webhook: string): ReadonlySet<string> {
    const waiting = [...this.#scheduled.values(), ...[...this.#due.values()].map(({ message }) => message)];
    return new Set(waiting.filter((each) => each.webhook === webhook).map(({ delivery }) => delivery));
  }

  read(feed: Feed<DueMessage>): void {
    this.#readers.add(feed);
    for (const seq of this.#due.keys()) this.#handOut(seq);
  }

  ack(seq: number): void {
    this.#due.delete(seq);
  }

  /** The replica is at work on these messages. */
  extend(seqs: readonly number[]): void {
    for (const seq of seqs) {
      const due = this.#due.get(seq);
      if (due !== undefined) due.extendedAt = this.#time.now;
    }
  }

  forgetIds(): void {
    this.#known.clear();
  }

  listQueues(partition: number): readonly QueueKey[] {
    return [...this.#queues.values()].filter(({ key, batches }) => key.partition === partition && batches.length > 0).map(({ key }) => key);
  }

  findNext(key: QueueKey, from: number): StoredBatch | undefined {
    return this.#queues.get(queueName(key))?.batches.find(({ seq }) => seq >= from);
  }

  findLast(key: QueueKey): StoredBatch | undefined {
    return this.#queues.get(queueName(key))?.batches.at(-1);
  }

  append(key: QueueKey, text: string, count: number, after: number): number | undefined {
    const queue = this.#queues.get(queueName(key)) ?? { key, batches: [], last: 0 };
    this.#queues.set(queueName(key), queue);
    if ((queue.batches.at(-1)?.seq ?? 0) !== after) return undefined;
    queue.batches.push({ seq: ++this.#seq, text, count });
    return this.#seq;
  }

  remove(sequence: number): void {
    for (const { batches } of this.#queues.values()) {
      const index = batches.findIndex(({ seq }) => seq === sequence);
      if (index >= 0) batches.splice(index, 1);
    }
  }

  removeAll(partition: number, webhook: string): void {
    for (const { key, batches } of this.#queues.values()) if (key.partition === partition && key.webhook === webhook) batches.length = 0;
  }

  #handOut(seq: number): void {
    const due = this.#due.get(seq);
    if (due === undefined) return;
    const readers = [...this.#readers].filter((feed) => feed.isOpen);
    if (readers.length === 0) return; // Until one reads again.
    due.extendedAt = this.#time.now;
    this.#random.pick(readers).push(due.message);
    this.#look(seq);
  }

  #look(seq: number): void {
    this.#time.after(ackWaitMs, () => {
      const due = this.#due.get(seq);
      if (due === undefined) return;
      if (this.#time.now - due.extendedAt >= ackWaitMs) this.#handOut(seq);
      else this.#look(seq);
    });
  }
}

const nameOf = (webhook: string, delivery: string): string => `${webhook} ${delivery}`;
const queueName = ({ partition, webhook, source }: QueueKey): string => `${partition} ${webhook} ${source}`;
