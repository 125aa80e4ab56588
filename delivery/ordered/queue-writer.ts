import {
  containsCommit,
  planBatch,
  type BatchLimits,
  type BatchPlan,
  type DeliveryBatch,
  type QueueState,
  type QueueTail,
} from "../../domain/delivery/ordered-queue.ts";
import type { CommitPosition } from "../../domain/source/deployment.ts";
import type { DeliveryConfig, DeliveryPorts } from "../ports.ts";
import { deadLetter } from "../record/dead-letter.ts";
import { encodeDelivery, type Delivery } from "../routing/delivery.ts";
import { isPermanent, isStoreFull } from "../settle.ts";

/** Deliveries that arrive while a message is being stored go into the next one, so that a queue fills faster than it can be delivered. */
const limits: BatchLimits = { deliveries: 100, bytes: 256 * 1_024 };
const retryMs = 500;

/** Abort reason of a queue whose webhook was deleted. */
export const webhookDeleted = "the webhook was deleted";

interface WaitingAppend {
  deliveries: readonly Delivery[];
  texts: readonly string[];
  readonly position: CommitPosition | undefined;
  readonly stored: PromiseWithResolvers<void>;
}

/** What the writer needs from its queue. */
export interface WrittenQueue {
  /** Resolves once the state is confirmed to be the stored one. */
  readonly confirm: () => Promise<void>;
  readonly state: () => QueueState;
  /** Called after each stored batch. */
  readonly onStored: () => void;
  /** Why a batch of this size may not be stored; undefined: it may. @throws Unavailable */
  readonly refusal: (bytes: number) => Promise<string | undefined>;
}

type Ports = Pick<DeliveryPorts, "queueStore" | "history" | "clock" | "log">;

/** Stores deliveries at the end of one webhook's queue, in the order of its calls, each once. */
export class QueueWriter {
  readonly #webhook: string;
  readonly #config: Pick<DeliveryConfig, "maxQueued">;
  readonly #ports: Ports;
  readonly #queue: WrittenQueue;
  readonly #signal: AbortSignal;
  /** Undefined if it must be read. */
  #tail: QueueTail | undefined;
  #reading: Promise<QueueTail> | undefined;
  /** Ids in the last message when it was read: this writer may have stored them without receiving the ack, or before a crash. */
  #lastStoredIds = new Set<string>();
  #waiting: WaitingAppend[] = [];
  #isStoring = false;

  constructor(webhook: string, config: Pick<DeliveryConfig, "maxQueued">, ports: Ports, queue: WrittenQueue, signal: AbortSignal) {
    this.#webhook = webhook;
    this.#config = config;
    this.#ports = ports;
    this.#queue = queue;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#giveUp(), { once: true });
  }

  /** Resolves once the deliveries are stored, or the webhook is deleted. `position`: that of their commit. */
  append(deliveries: readonly Delivery[], position: CommitPosition | undefined): Promise<void> {
    const stored = Promise.withResolvers<void>();
    this.#waiting.push({ deliveries, texts: deliveries.map(encodeDelivery), position, stored });
    if (this.#signal.aborted) this.#giveUp();
    else if (!this.#isStoring) void this.#storeAll(); // Never rejects.
    return stored.promise;
  }

  /** The end of the queue. @throws Unavailable */
  async tail(): Promise<QueueTail> {
    if (this.#tail !== undefined) return this.#tail;
    this.#reading ??= this.#readTail().finally(() => (this.#reading = undefined));
    return (this.#tail = await this.#reading);
  }

  /** Number of the last stored delivery, as far as it is known. */
  get number(): number {
    return this.#tail?.number ?? this.#queue.state().number;
  }

  /** Bytes of all deliveries that were ever stored, as far as they are known. */
  get bytes(): number {
    return this.#tail?.bytes ?? this.#queue.state().bytes ?? 0;
  }

  /** Another replica may have written to the queue: reads its end again before the next write. */
  forgetTail(): void {
    this.#tail = undefined;
  }

  /** A message of the queue was removed. */
  removed(sequence: number): void {
    if (this.#tail?.seq === sequence) this.#tail = { ...this.#tail, seq: 0 };
  }

  async #storeAll(): Promise<void> {
    this.#isStoring = true;
    while (this.#waiting.length > 0) {
      try {
        await this.#storeBatch();
      } catch (error) {
        this.#ports.log.warn({ op: "line.store", "webhook.id": this.#webhook, err: error }, "deliveries are not queued yet, trying again");
        this.#tail = undefined;
        // When the stream of all queues is full, the floor of RUNS must not wait for one of them.
        if (isPermanent(error) || isStoreFull(error)) await this.#tryDiscardFirst(`it cannot be stored: ${error.message}`);
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
    this.#isStoring = false;
  }

  async #storeBatch(): Promise<void> {
    const tail = await this.tail();
    this.#dropStored(tail);
    const [first] = this.#waiting;
    if (first === undefined) return;
    const { maxQueued = Number.POSITIVE_INFINITY } = this.#config;
    if (tail.number - this.#queue.state().number >= maxQueued)
      return this.#discard(first, `${maxQueued} deliveries wait for this ordered webhook: its queue is full`);
    const candidates = this.#waiting.slice(0, limits.deliveries);
    const sizes = candidates.map(({ texts, position }) => ({ sizes: texts.map((text) => Buffer.byteLength(text)), position }));
    const { counts, upTo } = planBatch(sizes, tail.upTo, limits);
    const texts = counts.flatMap((count, index) => candidates[index]?.texts.slice(0, count) ?? []);
    const size = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    const refusal = await this.#queue.refusal(size);
    if (refusal !== undefined) return this.#discard(first, refusal);
    const [number, bytes] = [tail.number + texts.length, tail.bytes + size];
    const seq = await this.#ports.queueStore.append(this.#webhook, encodeBatch(texts, { number, bytes, upTo }), tail.seq);
    if (seq === undefined) return this.forgetTail();
    this.#tail = { seq, number, bytes, ...(upTo === undefined ? {} : { upTo }) };
    this.#resolveStored(counts);
    this.#queue.onStored();
  }

  #resolveStored(counts: readonly number[]): void {
    for (const count of counts) {
      const [first] = this.#waiting;
      if (first === undefined) return; // They were given up in the meantime.
      first.deliveries = first.deliveries.slice(count);
      first.texts = first.texts.slice(count);
      if (first.texts.length > 0) return;
      this.#waiting.shift();
      first.stored.resolve();
    }
  }

  /** Drops deliveries that the queue already has. */
  #dropStored(tail: QueueTail): void {
    for (const waiting of this.#lastStoredIds.size === 0 ? [] : this.#waiting) {
      const isMissing = waiting.deliveries.map(({ id }) => !this.#lastStoredIds.has(id));
      waiting.deliveries = waiting.deliveries.filter((_, index) => isMissing[index]);
      waiting.texts = waiting.texts.filter((_, index) => isMissing[index]);
    }
    this.#lastStoredIds.clear();
    const isStored = ({ texts, position }: WaitingAppend): boolean => texts.length === 0 || containsCommit(tail, position);
    while (this.#waiting[0] !== undefined && isStored(this.#waiting[0])) this.#waiting.shift()?.stored.resolve();
  }

  async #readTail(): Promise<QueueTail> {
    await this.#queue.confirm();
    const last = await this.#ports.queueStore.findLast(this.#webhook);
    const { number, bytes = 0, upTo } = this.#queue.state();
    if (last === undefined) return { seq: 0, number, bytes, ...(upTo === undefined ? {} : { upTo }) };
    const batch = decodeBatch(last.text);
    this.#lastStoredIds = new Set(batch.deliveries.map(({ id }) => id));
    const lastCommit = batch.upTo ?? upTo;
    return { seq: last.seq, number: batch.number, bytes: batch.bytes ?? bytes, ...(lastCommit === undefined ? {} : { upTo: lastCommit }) };
  }

  /** Only the first append can be too large: others are batched with it only while they fit. */
  async #tryDiscardFirst(reason: string): Promise<void> {
    const [first] = this.#waiting;
    if (first === undefined) return;
    await this.#discard(first, reason).catch((error: unknown) =>
      this.#ports.log.warn({ op: "line.store", "webhook.id": this.#webhook, err: error }, "a dead letter is not written yet, trying again"),
    );
  }

  /** Stores deliveries that were never attempted as dead letters. */
  async #discard(append: WaitingAppend, reason: string): Promise<void> {
    const diedAt = this.#ports.clock.now();
    const letters = append.deliveries.map((delivery) => deadLetter({ ...delivery, attempt: 0 }, reason, diedAt));
    await this.#ports.history.recordDeadLetters(letters);
    if (this.#waiting[0] === append) this.#waiting.shift();
    append.stored.resolve();
  }

  #giveUp(): void {
    for (const { stored } of this.#waiting.splice(0)) {
      if (this.#signal.reason === webhookDeleted) stored.resolve();
      else stored.reject(new Error("stopped before the delivery was queued"));
    }
  }
}

/** @param texts encoded deliveries */
function encodeBatch(texts: readonly string[], head: Omit<DeliveryBatch<never>, "deliveries" | "upTo"> & Pick<BatchPlan, "upTo">): string {
  return `${JSON.stringify(head).slice(0, -1)},"deliveries":[${texts.join(",")}]}`;
}

export function decodeBatch(text: string): DeliveryBatch<Delivery> {
  return JSON.parse(text) as DeliveryBatch<Delivery>; // Only this role writes to the stream.
}
