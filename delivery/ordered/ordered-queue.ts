import { failed, isLaterState, nextIn, passed, type FailingHead, type QueueState } from "../../domain/delivery/ordered-queue.ts";
import type { CommitPosition } from "../../domain/source/deployment.ts";
import { pause } from "../../domain/retry.ts";
import type { Delivery } from "../routing/delivery.ts";
import type { Again, QueueAttempts } from "./queue-attempts.ts";
import { lineIsGone, QueueWriter } from "./queue-writer.ts";
import { decodePack } from "./queue-pack.ts";
import type { DeliveryConfig, DeliveryPorts } from "../ports.ts";
import type { QueueMessage } from "./ports.ts";
import { untilDone } from "../settle.ts";

/** How far a line has come is kept that long behind the deliveries' back: a crash repeats what was delivered in it. */
const keepEveryMs = 250;
const retryMs = 500;
/** A copy of the stream that is behind has what was stored by then; else somebody has removed it. */
const missingRetryMs = 50;
const mostMissing = 200;
/** A timer takes no longer waits than 24 days. */
const longestWaitMs = 3_600_000;

type Ports = Pick<DeliveryPorts, "queueStore" | "history" | "clock" | "log">;

export interface QueueParts {
  readonly config: Pick<DeliveryConfig, "maxQueued" | "attemptTimeoutMs">;
  readonly ports: Ports;
  readonly attempts: Pick<QueueAttempts, "attempt">;
  /** False: another replica may have taken the lines over. Nothing is posted then. */
  readonly isCurrent: () => boolean;
}

/**
 * The line of one ordered webhook. What is routed is stored at its end; from its head one delivery after the other is attempted, and the
 * next one not before the one before was delivered or became a dead letter. While it waits for the time of an attempt it holds nothing
 * but how far it has come: the rest lies in its stream.
 */
export class OrderedQueue {
  readonly #webhook: string;
  readonly #parts: QueueParts;
  readonly #end: QueueWriter;
  readonly #ending = new AbortController();
  #state: QueueState;
  #kept: QueueState;
  #running: Promise<void> | undefined;
  /** How far the line has come if what is being posted fails. */
  #ifFailed: QueueState | undefined;
  #isWoken = false;
  #confirming: Promise<void> | undefined;
  #hurry: (() => void) | undefined;
  /** Messages that are done and not removed yet. */
  #done: number[] = [];
  #keeping: Promise<boolean> = Promise.resolve(true);
  #timer: NodeJS.Timeout | undefined;

  constructor(webhook: string, state: QueueState, parts: QueueParts) {
    this.#webhook = webhook;
    this.#state = state;
    this.#kept = state;
    this.#parts = parts;
    const rest = { state: () => this.#state, onStored: () => this.wake(), confirm: () => this.#confirm() };
    this.#end = new QueueWriter(webhook, parts.config, parts.ports, rest, this.#ending.signal);
  }

  append(deliveries: readonly Delivery[], position: CommitPosition | undefined): Promise<void> {
    return this.#end.append(deliveries, position);
  }

  /** Deliveries that are not done, as far as is known: of a line that was found after a start it is once something was read. */
  get length(): number {
    return Math.max(0, this.#end.number - this.#state.number);
  }

  get state(): QueueState {
    return this.#state;
  }

  /** Something is, or may be, in line. */
  wake(): void {
    this.#isWoken = true;
    this.#running ??= this.#run(); // Never rejects.
  }

  /** After a start. What was done and not removed before goes. */
  async resume(): Promise<void> {
    const { queueStore: lines } = this.#parts.ports;
    await this.#confirm();
    const first = await lines.findNext(this.#webhook, 1);
    if (first !== undefined && first.seq < this.#state.seq) await lines.removeBefore(this.#webhook, this.#state.seq);
    await this.#end.tail();
    this.wake();
  }

  /** The head is attempted now; only if it is that delivery, when one is named. */
  attemptNow(delivery?: string): boolean {
    const { failing } = this.#state;
    if (failing === undefined || (delivery !== undefined && delivery !== failing.delivery)) return false;
    this.#state = { ...this.#state, failing: { ...failing, atMs: Math.min(failing.atMs, this.#parts.ports.clock.now()) } };
    this.#hurry?.();
    return true;
  }

  /** The webhook is gone. Resolves when nothing is attempted any more. */
  async end(): Promise<void> {
    this.#ending.abort(lineIsGone);
    this.#hurry?.();
    await this.#running;
    clearTimeout(this.#timer);
    await this.#keeping;
  }

  /**
   * Attempts nothing more, and keeps how far it came. An attempt that takes longer than `endsWithinMs` goes on: the next owner makes it again, and not
   * before its time is up.
   */
  async stop(endsWithinMs: number): Promise<void> {
    this.#ending.abort();
    this.#hurry?.();
    const late = new AbortController();
    const tooLate = pause(endsWithinMs, late.signal);
    await Promise.race([this.#running, tooLate]);
    late.abort();
    clearTimeout(this.#timer);
    await this.#keeping;
    this.#state = this.#ifFailed ?? this.#state;
    if (this.#kept !== this.#state) await this.#write();
  }

  async #run(): Promise<void> {
    while (this.#isWoken && !this.#ending.signal.aborted) {
      this.#isWoken = false;
      try {
        await this.#goOn();
      } catch (error) {
        const fields = { op: "line.read", "webhook.id": this.#webhook, err: error };
        this.#parts.ports.log.warn(fields, "a line cannot go on, trying again");
        this.#isWoken = true;
        await this.#wait(retryMs);
      }
    }
    this.#running = undefined;
  }

  /**
   * Once, before anything is attempted or stored: writes the state on the condition that nobody has come further. It may have been read
   * from a copy that is behind, and a former owner that had stalled cannot write an older one from then on. @throws Unavailable
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
      const further = await this.#parts.ports.queueStore.saveState(this.#webhook, this.#state);
      if (further === undefined) return;
      this.#kept = this.#state = further;
    }
  }

  async #goOn(): Promise<void> {
    await this.#confirm();
    while (!this.#ending.signal.aborted) {
      if (!this.#parts.isCurrent()) {
        await this.#wait(retryMs);
        continue;
      }
      const leftMs = (this.#state.failing?.atMs ?? 0) - this.#parts.ports.clock.now();
      if (leftMs > 0) {
        await this.#wait(Math.min(leftMs, longestWaitMs));
        continue;
      }
      const message = await this.#next();
      if (message === undefined) return;
      await this.#deliver(message);
    }
  }

  /** Undefined: there is no more. */
  async #next(): Promise<QueueMessage | undefined> {
    for (let missing = 0; missing < mostMissing && !this.#ending.signal.aborted; missing++) {
      const message = await this.#parts.ports.queueStore.findNext(this.#webhook, this.#state.seq);
      if (message !== undefined) return message;
      const { seq } = await this.#end.tail();
      if (seq < this.#state.seq) return undefined;
      await this.#wait(missingRetryMs);
    }
    this.#end.forget();
    return undefined;
  }

  /** All of a message, or up to the first that is to be attempted again. */
  async #deliver({ seq, text }: QueueMessage): Promise<void> {
    const pack = decodePack(text);
    for (let index = nextIn(this.#state, seq); index < pack.deliveries.length; index++) {
      const delivery = pack.deliveries[index];
      if (delivery === undefined || this.#ending.signal.aborted || !this.#parts.isCurrent()) return;
      this.#ifFailed = failed(this.#state, seq, pack, index, this.#failingLater(delivery));
      const settled = await this.#attempt(delivery);
      this.#ifFailed = undefined;
      if (settled === undefined) return;
      if (settled.again !== undefined) {
        this.#state = failed(this.#state, seq, pack, index, { delivery: delivery.id, ...settled.again });
        return void (await this.#keep());
      }
      this.#state = passed(this.#state, seq, pack, index);
      if (this.#state.seq > seq) this.#done.push(seq);
      this.#keepSoon();
    }
  }

  /** The same attempt again, once the one that is being made must have ended. */
  #failingLater({ id, attempt }: Delivery): FailingHead {
    const { failing } = this.#state;
    const atMs = this.#parts.ports.clock.now() + this.#parts.config.attemptTimeoutMs;
    return { delivery: id, attempt: failing?.delivery === id ? failing.attempt : attempt, atMs };
  }

  /** Undefined: it is not settled, since we stop. */
  async #attempt(delivery: Delivery): Promise<{ readonly again: Again | undefined } | undefined> {
    const { failing } = this.#state;
    const { attempts, ports } = this.#parts;
    const attempted = failing?.delivery === delivery.id ? { ...delivery, attempt: failing.attempt } : delivery;
    let again: Again | undefined;
    const act = async (): Promise<void> => {
      again = await attempts.attempt(attempted);
    };
    return (await untilDone(act, attempted, ports, this.#ending.signal)) ? { again } : undefined;
  }

  #wait(ms: number): Promise<void> {
    if (this.#ending.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const go = (): void => {
        clearTimeout(timer);
        this.#hurry = undefined;
        resolve();
      };
      const timer = setTimeout(go, ms);
      this.#hurry = go;
    });
  }

  #keepSoon(): void {
    this.#timer ??= setTimeout(() => void this.#keep(), keepEveryMs); // Never rejects.
  }

  #keep(): Promise<boolean> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return (this.#keeping = this.#keeping.then(() => this.#write()));
  }

  /** First how far the line has come, then what it has left behind: that tells up to which commit it had all. */
  async #write(): Promise<boolean> {
    const [done, state] = [this.#done, this.#state];
    this.#done = [];
    try {
      const further = await this.#parts.ports.queueStore.saveState(this.#webhook, state);
      this.#kept = state;
      // Another replica has come further, having taken this one for dead.
      if (further !== undefined && isLaterState(further, this.#state)) this.#kept = this.#state = further;
      await this.#parts.ports.queueStore.remove(this.#webhook, done);
      for (const sequence of done) this.#end.removed(sequence);
      return true;
    } catch (error) {
      this.#parts.ports.log.warn({ op: "line.keep", "webhook.id": this.#webhook, err: error }, "how far a line has come is not kept yet");
      this.#done = [...done, ...this.#done];
      if (!this.#ending.signal.aborted) this.#keepSoon();
      return false;
    }
  }
}
