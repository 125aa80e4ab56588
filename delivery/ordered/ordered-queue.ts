import { Unavailable } from "../../domain/errors.ts";
import { pause } from "../../domain/retry.ts";
import type { Settled } from "../attempts/discards.ts";
import { decodeDelivery, type Delivery } from "../routing/delivery.ts";
import { settle } from "../settle.ts";
import { BatchWriter } from "./batch-writer.ts";
import { batchesOf, decodeBatch } from "./batches.ts";
import type { QueueKey } from "./ports.ts";
import type { Head, ListScheduled, QueueParts } from "./queue-parts.ts";

const retryMs = 500;

/**
 * The events of one source for one ordered webhook, attempted one at a time. While attempts succeed within the delivery deadline, nothing is
 * stored:
 *
 *   idle ── events ──▶ attempting ── delivered, or a dead letter ──▶ the next one, or idle
 *                        │    ▲
 *     failed, or slower  │    │ due
 *     than the deadline  ▼    │
 *                      stored: the head is scheduled in DELIVERIES like any delivery, and stays first in the queue;
 *                      later events are stored behind it
 *
 * Memory holds only numbers while the head waits. A crash repeats events from the last floor of the partition on, in the same order.
 */
export class OrderedQueue {
  readonly key: QueueKey;
  readonly #parts: QueueParts;
  /** Aborts when the partition is handed over: nothing more is attempted, and what arrives is stored. */
  readonly #retiring = new AbortController();
  readonly #ending = new AbortController();
  #isHeadKnown = Promise.withResolvers<void>();
  #listScheduled: ListScheduled;
  #mustFindHead = false;
  #isDelivering = false;
  /** `deliver` attempts events that are not stored: `#run` waits for it. */
  #isDirect = false;
  /**
   * Whether batches may be stored. Only a read that finds none shows that there are none: another replica that had stalled may have stored
   * some after this one began.
   */
  #mayHaveBatches = false;
  /** Number of batches that this replica has stored. */
  #appended = 0;
  readonly #writer: BatchWriter;
  /** Batches up to this sequence are done. */
  #doneUpTo = 0;
  #head: Head | undefined;
  #running: Promise<void> | undefined;

  constructor(key: QueueKey, parts: QueueParts) {
    this.key = key;
    this.#parts = parts;
    this.#writer = new BatchWriter(key, parts.ports);
    this.#listScheduled = (webhook) => parts.ports.queueStore.listScheduled(webhook);
  }

  get isIdle(): boolean {
    return !this.#mayHaveBatches && !this.#isDelivering && this.#running === undefined && this.#head === undefined;
  }

  /**
   * Delivers events after all earlier ones. Resolves once they are delivered or stored. One call at a time.
   *
   * @param waitedMs time that they waited behind earlier ones. @throws when another replica has taken over
   */
  async deliver(deliveries: readonly Delivery[], waitedMs: number): Promise<void> {
    // The one before may have been given up: stored now, these would come before it when the next replica repeats it.
    if (this.#ending.signal.aborted) throw takenOver();
    this.#isDelivering = true;
    try {
      this.#isDirect = !this.#mayHaveBatches;
      const rest = this.#isDirect ? await this.#attemptAtOnce(deliveries, waitedMs) : deliveries;
      if (rest.length > 0) await this.#store(rest);
    } finally {
      this.#isDirect = this.#isDelivering = false;
    }
    this.#wake();
  }

  /** Continues with all batches that are stored, by this replica or another one. */
  readStored(listScheduled: ListScheduled): void {
    // What an attempt in flight schedules may be missing in a list that was read before.
    const isInFlight = this.#head !== undefined && this.#head.outcome === undefined;
    if (!isInFlight) this.#listScheduled = listScheduled;
    this.#mayHaveBatches = true;
    // A NATS that was restored gives lower sequences again. Those that are done are removed.
    this.#doneUpTo = 0;
    if (!this.#mustFindHead) this.#isHeadKnown = Promise.withResolvers();
    this.#mustFindHead = true;
    this.#wake();
  }

  /** Attempts the head, which is due. A delivery that is not the head needs no attempt: its message was handed out twice. */
  async attemptDue(delivery: Delivery): Promise<void> {
    if (this.#mustFindHead) await this.#isHeadKnown.promise;
    const head = this.#head;
    if (head?.delivery.id !== delivery.id || (await head.settled) !== "scheduled" || this.#head !== head) return;
    this.#parts.deliverer.release(delivery);
    const { settled } = this.#begin(delivery);
    this.#wake();
    if ((await settled) === undefined) throw new Unavailable("this replica stops: the delivery is attempted by the next one");
  }

  /** Makes the next attempt now, if the head waits for it. */
  async attemptSoon(): Promise<void> {
    const { ports, deliverer } = this.#parts;
    if (this.#head?.outcome !== "scheduled") return;
    const scheduled = await ports.deliveries.findScheduled(this.key.webhook, this.#head.delivery.id);
    if (scheduled !== undefined) await deliverer.schedule(decodeDelivery(scheduled), ports.clock.now());
  }

  /** The batches of a deleted webhook were removed. */
  forget(): void {
    if (this.#head?.outcome === "scheduled") this.#head = undefined;
    this.#wake();
  }

  /** Starts no more attempts. */
  retire(): void {
    this.#retiring.abort();
  }

  /** An attempt that takes longer than `endsWithinMs` continues: the next replica repeats it after its timeout. */
  async stop(endsWithinMs: number): Promise<void> {
    this.retire();
    const late = new AbortController();
    await Promise.race([this.#running, pause(endsWithinMs, late.signal)]);
    late.abort();
    const { ports, deliverer, config } = this.#parts;
    const head = this.#head;
    if (head !== undefined && head.outcome === undefined)
      await settle(
        () => deliverer.schedule(head.delivery, ports.clock.now() + config.attemptTimeoutMs),
        head.delivery,
        ports,
        AbortSignal.abort(),
      );
    this.#ending.abort();
    this.#isHeadKnown.resolve();
  }

  /** @returns those that must be stored: the first one has failed, is slower than the deadline, or was not attempted */
  async #attemptAtOnce(deliveries: readonly Delivery[], waitedMs: number): Promise<readonly Delivery[]> {
    const until = performance.now() + this.#parts.config.deliveryDeadlineMs - waitedMs;
    for (const [index, delivery] of deliveries.entries()) {
      const leftMs = until - performance.now();
      if (leftMs <= 0 || this.#retiring.signal.aborted) return deliveries.slice(index);
      const enough = new AbortController();
      const outcome = await Promise.race([this.#begin(delivery).settled, pause(leftMs, enough.signal)]);
      enough.abort();
      if (outcome !== "done") return deliveries.slice(index);
      this.#head = undefined;
    }
    return [];
  }

  #begin(delivery: Delivery): Head {
    const head: Head = { delivery, settled: this.#attempt(delivery).then((outcome) => (head.outcome = outcome)) };
    this.#head = head;
    return head;
  }

  /** Never rejects. */
  async #attempt(delivery: Delivery): Promise<Settled | undefined> {
    const { ports, deliverer } = this.#parts;
    let outcome: Settled = "done";
    const act = async (): Promise<void> => {
      const mayAttempt = ports.replicas.isCurrent() && !this.#retiring.signal.aborted;
      if (!mayAttempt) throw new Unavailable("another replica may have taken over the partition, so this one attempts nothing");
      outcome = await deliverer.attempt(delivery);
    };
    const giveUp = (error: Error): Promise<void> => deliverer.abandon(delivery, error);
    return (await settle(act, delivery, ports, this.#ending.signal, giveUp)) ? outcome : undefined;
  }

  #wake(): void {
    if (this.#running !== undefined) return;
    if (this.#hasWork) this.#running = this.#run(); // Never rejects.
    else if (this.isIdle) this.#parts.onIdle();
  }

  get #hasWork(): boolean {
    if (!this.#mayHaveBatches || this.#isDirect || this.#retiring.signal.aborted) return false;
    return this.#mustFindHead || this.#head?.outcome !== "scheduled";
  }

  async #run(): Promise<void> {
    while (this.#hasWork) {
      try {
        await this.#deliverFirst();
      } catch (error) {
        const fields = { op: "ordered.read", "webhook.id": this.key.webhook, "source.id": this.key.source, err: error };
        this.#parts.ports.log.warn(fields, "an ordered queue cannot continue, trying again");
        await pause(retryMs, this.#retiring.signal);
      }
    }
    this.#running = undefined;
    if (this.isIdle) this.#parts.onIdle();
  }

  /** Delivers the rest of the first batch, up to the first delivery that must be attempted again, and removes the batch. */
  async #deliverFirst(): Promise<void> {
    const { queueStore } = this.#parts.ports;
    const appended = this.#appended;
    const batch = await queueStore.findNext(this.key, this.#doneUpTo + 1);
    const deliveries = batch === undefined ? [] : decodeBatch(batch.text);
    if (this.#mustFindHead) await this.#findHead(deliveries);
    if (batch === undefined) return this.#becomeEmpty(appended);
    const atHead = deliveries.findIndex(({ id }) => id === this.#head?.delivery.id);
    let index = Math.max(0, atHead);
    for (let delivery = deliveries[index]; delivery !== undefined; delivery = deliveries[index]) {
      if (this.#retiring.signal.aborted) return this.#markNext(delivery, index);
      if (await this.#isOtherInFlight(delivery)) continue;
      const head = this.#head?.delivery.id === delivery.id ? this.#head : this.#begin(delivery);
      const outcome = await head.settled;
      if (this.#head !== head) continue; // It was due in the meantime, and is attempted again.
      if (outcome !== "done") return;
      this.#head = undefined;
      index++;
    }
    await this.#removeDone(batch.seq, deliveries);
  }

  /** Whether another delivery was being attempted, for which this has waited. */
  async #isOtherInFlight({ id }: Delivery): Promise<boolean> {
    const head = this.#head;
    if (head === undefined || head.delivery.id === id || head.outcome !== undefined) return false;
    if ((await head.settled) !== "scheduled" && this.#head === head) this.#head = undefined;
    return true;
  }

  /** Before the next attempt: a batch that stays behind a removed one would be repeated out of order. */
  async #removeDone(seq: number, deliveries: readonly Delivery[]): Promise<void> {
    const { ports, deliverer } = this.#parts;
    this.#doneUpTo = seq;
    await settle(() => ports.queueStore.remove(seq), { id: this.key.webhook }, ports, this.#ending.signal);
    for (const delivery of deliveries) deliverer.release(delivery);
    this.#writer.removed(seq);
  }

  /** @param appended `#appended` before the read that found nothing; if it has grown since, the read proves nothing */
  #becomeEmpty(appended: number): void {
    if (appended !== this.#appended) return;
    this.#mayHaveBatches = false;
    if (this.#head?.outcome !== undefined) this.#head = undefined;
  }

  /** Its schedule shows the next replica how much of the batch is done. */
  async #markNext(delivery: Delivery, index: number): Promise<void> {
    const { deliverer, ports } = this.#parts;
    if (index > 0 && this.#head === undefined) await deliverer.schedule(delivery, ports.clock.now());
  }

  /** After each read of what is stored: the delivery of the first batch that is scheduled or due is the head. */
  async #findHead(deliveries: readonly Delivery[]): Promise<void> {
    const before = this.#head;
    const scheduled = deliveries.length === 0 ? new Set() : await this.#listScheduled(this.key.webhook);
    this.#mustFindHead = false;
    this.#isHeadKnown.resolve();
    if (this.#head !== before || (before !== undefined && before.outcome !== "scheduled")) return;
    const delivery = deliveries.findLast(({ id }) => scheduled.has(id));
    this.#head = delivery && { delivery, settled: Promise.resolve("scheduled"), outcome: "scheduled" };
  }

  async #store(deliveries: readonly Delivery[]): Promise<void> {
    const { ports, deliverer } = this.#parts;
    const kept: Delivery[] = [];
    for (const delivery of deliveries) {
      let isHeld = false;
      const hold = async (): Promise<void> => void (isHeld = await deliverer.hold(delivery, delivery === this.#head?.delivery));
      if (!(await settle(hold, delivery, ports, this.#ending.signal))) throw takenOver();
      if (isHeld) kept.push(delivery);
    }
    for (const batch of batchesOf(kept)) await this.#storeBatch(batch);
  }

  async #storeBatch(deliveries: readonly Delivery[]): Promise<void> {
    const { ports, deliverer } = this.#parts;
    let isStored = false;
    const append = async (): Promise<void> => {
      if (!(await this.#writer.append(deliveries, () => this.#retiring.signal.aborted))) this.#ending.abort();
      else isStored = true;
    };
    const giveUp = async (error: Error): Promise<void> => {
      for (const delivery of deliveries) await deliverer.abandon(delivery, error);
    };
    const isSettled = await settle(append, { id: this.key.webhook }, ports, this.#ending.signal, giveUp);
    if (!isSettled || this.#ending.signal.aborted) throw takenOver();
    if (!isStored) return;
    this.#appended++;
    this.#mayHaveBatches = true;
  }
}

const takenOver = (): Error => new Unavailable("another replica has taken over the partition");
