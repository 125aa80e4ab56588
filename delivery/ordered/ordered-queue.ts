import {
  isLaterState,
  nextIndex,
  stateAfterDone,
  stateAfterFailure,
  type FailingHead,
  type QueueState,
} from "../../domain/delivery/ordered-queue.ts";
import { pause } from "../../domain/retry.ts";
import type { CommitPosition } from "../../domain/source/deployment.ts";
import type { DeliveryConfig, DeliveryPorts } from "../ports.ts";
import type { Delivery } from "../routing/delivery.ts";
import { settle } from "../settle.ts";
import type { OrderedShares } from "./ordered-shares.ts";
import type { QueueMessage } from "./ports.ts";
import type { NextAttempt, QueueAttempts } from "./queue-attempts.ts";
import { decodeBatch, QueueWriter, webhookDeleted } from "./queue-writer.ts";

/** The state is saved in the background after this time. A crash repeats the deliveries that were made since. */
const saveDelayMs = 250;
const retryMs = 500;
/** A copy of the stream that is behind has the next message within 200 such waits; otherwise the message was removed. */
const missingRetryMs = 50;
const maxMissingRetries = 200;
/** `setTimeout` takes at most 24 days. */
const maxWaitMs = 3_600_000;

type Ports = Pick<DeliveryPorts, "queueStore" | "history" | "clock" | "log">;

export interface QueueParts {
  readonly config: Pick<DeliveryConfig, "maxQueued" | "attemptTimeoutMs">;
  readonly ports: Ports;
  readonly attempts: Pick<QueueAttempts, "attempt">;
  /** False if another replica may have taken over the queues: nothing is posted then. */
  readonly isCurrent: () => boolean;
  readonly shares: Pick<OrderedShares, "refusal">;
}

/**
 * The queue of one ordered webhook. Routed deliveries are stored at its end. At its head one delivery at a time is attempted, and the
 * next one only after it was delivered or became a dead letter:
 *
 *   idle ──stored──▶ reading ──message──▶ attempting ──done──▶ reading
 *    ▲                  │                    │ failed
 *    └──no message──────┘                    ▼
 *                    reading ◀──time──── waiting for the next attempt
 *
 * While a queue is idle or waiting, only its state is in memory: the deliveries are in the stream.
 */
export class OrderedQueue {
  readonly #webhook: string;
  readonly #parts: QueueParts;
  readonly #writer: QueueWriter;
  readonly #ending = new AbortController();
  #state: QueueState;
  #savedState: QueueState;
  #running: Promise<void> | undefined;
  /** The state to save if the attempt in flight does not end before this replica stops. */
  #stateIfFailed: QueueState | undefined;
  #isWoken = false;
  #confirming: Promise<void> | undefined;
  #endWait: (() => void) | undefined;
  /** Sequences of messages that are done and not removed yet. */
  #doneSequences: number[] = [];
  #saving: Promise<void> = Promise.resolve();
  #saveTimer: NodeJS.Timeout | undefined;

  constructor(webhook: string, state: QueueState, parts: QueueParts) {
    this.#webhook = webhook;
    this.#state = state;
    this.#savedState = state;
    this.#parts = parts;
    const queue = {
      state: () => this.#state,
      onStored: () => this.wake(),
      confirm: () => this.#confirm(),
      refusal: (bytes: number) => parts.shares.refusal(webhook, bytes),
    };
    this.#writer = new QueueWriter(webhook, parts.config, parts.ports, queue, this.#ending.signal);
  }

  append(deliveries: readonly Delivery[], position: CommitPosition | undefined): Promise<void> {
    return this.#writer.append(deliveries, position);
  }

  /** Number of queued deliveries, as far as it is known: after a start, once the end of the queue has been read. */
  get length(): number {
    return Math.max(0, this.#writer.number - this.#state.number);
  }

  /** Bytes of queued deliveries, as far as they are known. */
  get bytes(): number {
    return Math.max(0, this.#writer.bytes - (this.#state.bytes ?? 0));
  }

  get state(): QueueState {
    return this.#state;
  }

  /** Starts to deliver, because the queue has or may have messages. */
  wake(): void {
    this.#isWoken = true;
    this.#running ??= this.#run(); // Never rejects.
  }

  /** Continues after a start. Removes messages that were done before it. */
  async resume(): Promise<void> {
    const { queueStore } = this.#parts.ports;
    await this.#confirm();
    const first = await queueStore.findNext(this.#webhook, 1);
    if (first !== undefined && first.seq < this.#state.seq) await queueStore.removeBefore(this.#webhook, this.#state.seq);
    await this.#writer.tail();
    this.wake();
  }

  /** Makes the head's next attempt now. With `delivery`, only if that is the head. Returns false if no head waits for an attempt. */
  attemptNow(delivery?: string): boolean {
    const { failing } = this.#state;
    if (failing === undefined || (delivery !== undefined && delivery !== failing.delivery)) return false;
    this.#state = { ...this.#state, failing: { ...failing, atMs: Math.min(failing.atMs, this.#parts.ports.clock.now()) } };
    this.#endWait?.();
    return true;
  }

  /** Ends the queue of a deleted webhook. Resolves once nothing is attempted any more. */
  async end(): Promise<void> {
    this.#ending.abort(webhookDeleted);
    this.#endWait?.();
    await this.#running;
    clearTimeout(this.#saveTimer);
    await this.#saving;
  }

  /**
   * Stops attempts and saves the state. An attempt that takes longer than `endsWithinMs` continues: the next replica that holds the queue
   * repeats it, after its timeout.
   */
  async stop(endsWithinMs: number): Promise<void> {
    this.#ending.abort();
    this.#endWait?.();
    const late = new AbortController();
    const tooLate = pause(endsWithinMs, late.signal);
    await Promise.race([this.#running, tooLate]);
    late.abort();
    clearTimeout(this.#saveTimer);
    await this.#saving;
    this.#state = this.#stateIfFailed ?? this.#state;
    if (this.#savedState !== this.#state) await this.#saveNow();
  }

  async #run(): Promise<void> {
    while (this.#isWoken && !this.#ending.signal.aborted) {
      this.#isWoken = false;
      try {
        await this.#deliverAll();
      } catch (error) {
        const fields = { op: "line.read", "webhook.id": this.#webhook, err: error };
        this.#parts.ports.log.warn(fields, "an ordered queue cannot continue, trying again");
        this.#isWoken = true;
        await this.#wait(retryMs);
      }
    }
    this.#running = undefined;
  }

  /**
   * Runs once, before anything is attempted or stored. Writes the state unless the stored one is later: the state may have been read from
   * a copy that is behind, and after this write a previous holder that had stalled cannot write an older one. @throws Unavailable
   */
  #confirm(): Promise<void> {
    this.#confirming ??= this.#confirmState().catch((error: unknown) => {
      this.#confirming = undefined;
      throw error;
    });
    return this.#confirming;
  }

  async #confirmState(): Promise<void> {
    for (;;) {
      const later = await this.#parts.ports.queueStore.saveState(this.#webhook, this.#state);
      if (later === undefined) return;
      this.#savedState = this.#state = later;
    }
  }

  async #deliverAll(): Promise<void> {
    await this.#confirm();
    while (!this.#ending.signal.aborted) {
      if (!this.#parts.isCurrent()) {
        await this.#wait(retryMs);
        continue;
      }
      const waitMs = (this.#state.failing?.atMs ?? 0) - this.#parts.ports.clock.now();
      if (waitMs > 0) {
        await this.#wait(Math.min(waitMs, maxWaitMs));
        continue;
      }
      const message = await this.#readNext();
      if (message === undefined) return;
      await this.#deliverBatch(message);
    }
  }

  /** Undefined if there are no more messages. */
  async #readNext(): Promise<QueueMessage | undefined> {
    for (let missing = 0; missing < maxMissingRetries && !this.#ending.signal.aborted; missing++) {
      const message = await this.#parts.ports.queueStore.findNext(this.#webhook, this.#state.seq);
      if (message !== undefined) return message;
      const { seq } = await this.#writer.tail();
      if (seq < this.#state.seq) return undefined;
      await this.#wait(missingRetryMs);
    }
    this.#writer.forgetTail();
    return undefined;
  }

  /** Delivers the rest of a batch, up to the first delivery that must be attempted again. */
  async #deliverBatch({ seq, text }: QueueMessage): Promise<void> {
    const batch = decodeBatch(text);
    for (let index = nextIndex(this.#state, seq); index < batch.deliveries.length; index++) {
      const delivery = batch.deliveries[index];
      if (delivery === undefined || this.#ending.signal.aborted || !this.#parts.isCurrent()) return;
      this.#stateIfFailed = stateAfterFailure(this.#state, seq, batch, index, this.#sameAttemptLater(delivery));
      const settled = await this.#attempt(delivery);
      this.#stateIfFailed = undefined;
      if (settled === undefined) return;
      if (settled.next !== undefined) {
        this.#state = stateAfterFailure(this.#state, seq, batch, index, { delivery: delivery.id, ...settled.next });
        return this.#save();
      }
      this.#state = stateAfterDone(this.#state, seq, batch, index);
      if (this.#state.seq > seq) this.#doneSequences.push(seq);
      this.#saveSoon();
    }
  }

  /** The same attempt, once the one in flight must have timed out. */
  #sameAttemptLater({ id, attempt }: Delivery): FailingHead {
    const { failing } = this.#state;
    const atMs = this.#parts.ports.clock.now() + this.#parts.config.attemptTimeoutMs;
    return { delivery: id, attempt: failing?.delivery === id ? failing.attempt : attempt, atMs };
  }

  /** Undefined if the queue stopped before the delivery was settled. */
  async #attempt(delivery: Delivery): Promise<{ readonly next: NextAttempt | undefined } | undefined> {
    const { failing } = this.#state;
    const { attempts, ports } = this.#parts;
    const attempted = failing?.delivery === delivery.id ? { ...delivery, attempt: failing.attempt } : delivery;
    let next: NextAttempt | undefined;
    const act = async (): Promise<void> => {
      next = await attempts.attempt(attempted);
    };
    return (await settle(act, attempted, ports, this.#ending.signal)) ? { next } : undefined;
  }

  #wait(ms: number): Promise<void> {
    if (this.#ending.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#endWait = undefined;
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.#endWait = end;
    });
  }

  #saveSoon(): void {
    this.#saveTimer ??= setTimeout(() => void this.#save(), saveDelayMs); // Never rejects.
  }

  #save(): Promise<void> {
    clearTimeout(this.#saveTimer);
    this.#saveTimer = undefined;
    return (this.#saving = this.#saving.then(() => this.#saveNow()));
  }

  /** Saves the state first and removes messages second, because the state then says up to which commit the queue has everything. */
  async #saveNow(): Promise<void> {
    const [done, state] = [this.#doneSequences, this.#state];
    this.#doneSequences = [];
    try {
      const later = await this.#parts.ports.queueStore.saveState(this.#webhook, state);
      this.#savedState = state;
      // Another replica took this one for dead, and has delivered more.
      if (later !== undefined && isLaterState(later, this.#state)) this.#savedState = this.#state = later;
      await this.#parts.ports.queueStore.remove(this.#webhook, done);
      for (const sequence of done) this.#writer.removed(sequence);
    } catch (error) {
      const fields = { op: "line.keep", "webhook.id": this.#webhook, err: error };
      this.#parts.ports.log.warn(fields, "the state of an ordered queue is not saved yet, trying again");
      this.#doneSequences = [...done, ...this.#doneSequences];
      if (!this.#ending.signal.aborted) this.#saveSoon();
    }
  }
}
