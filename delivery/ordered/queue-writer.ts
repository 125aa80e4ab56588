import type { CommitPosition } from "../../domain/source/deployment.ts";
import { hasCommit, planPack, type QueueState, type QueueTail, type PackLimits } from "../../domain/delivery/ordered-queue.ts";
import { deadLetter } from "../record/dead-letter.ts";
import { encodeDelivery, type Delivery } from "../routing/delivery.ts";
import { decodePack, encodePack } from "./queue-pack.ts";
import type { DeliveryConfig, DeliveryPorts } from "../ports.ts";
import { isPermanent, isStoreFull } from "../settle.ts";

/** So much is stored at a time of what came while the message before was being stored: a line takes in more than its endpoint ever could. */
const limits: PackLimits = { deliveries: 100, bytes: 256 * 1_024 };
const retryMs = 500;

/** Why a line ends whose webhook was deleted: its deliveries end with it. */
export const lineIsGone = "the webhook is gone";

interface Waiting {
  deliveries: readonly Delivery[];
  texts: readonly string[];
  readonly position: CommitPosition | undefined;
  readonly stored: PromiseWithResolvers<void>;
}

/** What the end of a line knows of the rest of it. */
export interface RestOfLine {
  /** Resolves once the state is what is stored: a copy that is behind may have told it. */
  readonly confirm: () => Promise<void>;
  readonly state: () => QueueState;
  /** Something more is stored. */
  readonly onStored: () => void;
}

type Ports = Pick<DeliveryPorts, "queueStore" | "history" | "clock" | "log">;

/** The end of one webhook's line: stores what is routed behind what is there, in the order in which it is given, each once. */
export class QueueWriter {
  readonly #webhook: string;
  readonly #config: Pick<DeliveryConfig, "maxQueued">;
  readonly #ports: Ports;
  readonly #rest: RestOfLine;
  readonly #signal: AbortSignal;
  /** Undefined: it has to be read. */
  #tail: QueueTail | undefined;
  #reading: Promise<QueueTail> | undefined;
  /** What the last message has, when it was read: it may be ours, stored without our hearing so, or before a crash. */
  #read = new Set<string>();
  #waiting: Waiting[] = [];
  #isStoring = false;

  constructor(webhook: string, config: Pick<DeliveryConfig, "maxQueued">, ports: Ports, rest: RestOfLine, signal: AbortSignal) {
    this.#webhook = webhook;
    this.#config = config;
    this.#ports = ports;
    this.#rest = rest;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#giveUp(), { once: true });
  }

  /** Resolves when they are stored, also by whoever stored them before a crash, or when the line is gone. `position`: that of their commit. */
  append(deliveries: readonly Delivery[], position: CommitPosition | undefined): Promise<void> {
    const stored = Promise.withResolvers<void>();
    this.#waiting.push({ deliveries, texts: deliveries.map(encodeDelivery), position, stored });
    if (this.#signal.aborted) this.#giveUp();
    else if (!this.#isStoring) void this.#store(); // Never rejects.
    return stored.promise;
  }

  /** Where the line ends. @throws Unavailable */
  async tail(): Promise<QueueTail> {
    if (this.#tail !== undefined) return this.#tail;
    this.#reading ??= this.#readLast().finally(() => (this.#reading = undefined));
    return (this.#tail = await this.#reading);
  }

  /** Of the last delivery that is stored, as far as it is known. */
  get number(): number {
    return this.#tail?.number ?? this.#rest.state().number;
  }

  /** Something that we did not do has happened to the line, or may have. */
  forget(): void {
    this.#tail = undefined;
  }

  removed(sequence: number): void {
    if (this.#tail?.seq === sequence) this.#tail = { ...this.#tail, seq: 0 };
  }

  async #store(): Promise<void> {
    this.#isStoring = true;
    while (this.#waiting.length > 0) {
      try {
        await this.#storeSome();
      } catch (error) {
        this.#ports.log.warn({ op: "line.store", "webhook.id": this.#webhook, err: error }, "deliveries are not in line yet, trying again");
        this.#tail = undefined;
        // The stream of all ordered queues being full, the floor of RUNS must not wait for one of them.
        if (isPermanent(error) || isStoreFull(error)) await this.#buryFirst(`it cannot be stored: ${error.message}`);
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
    this.#isStoring = false;
  }

  async #storeSome(): Promise<void> {
    const tail = await this.tail();
    this.#dropStored(tail);
    const [first] = this.#waiting;
    if (first === undefined) return;
    const { maxQueued = Number.POSITIVE_INFINITY } = this.#config;
    if (tail.number - this.#rest.state().number >= maxQueued)
      return this.#bury(first, `${maxQueued} deliveries wait for this ordered webhook: no more are put in line`);
    const some = this.#waiting.slice(0, limits.deliveries);
    const sizes = some.map(({ texts, position }) => ({ sizes: texts.map((text) => Buffer.byteLength(text)), position }));
    const { counts, upTo } = planPack(sizes, tail.upTo, limits);
    const texts = counts.flatMap((count, index) => some[index]?.texts.slice(0, count) ?? []);
    const number = tail.number + texts.length;
    const seq = await this.#ports.queueStore.append(this.#webhook, encodePack(texts, number, upTo), tail.seq);
    if (seq === undefined) return this.forget();
    this.#tail = { seq, number, ...(upTo === undefined ? {} : { upTo }) };
    this.#take(counts);
    this.#rest.onStored();
  }

  #take(counts: readonly number[]): void {
    for (const count of counts) {
      const [first] = this.#waiting;
      if (first === undefined) return; // They were given up meanwhile.
      first.deliveries = first.deliveries.slice(count);
      first.texts = first.texts.slice(count);
      if (first.texts.length > 0) return;
      this.#waiting.shift();
      first.stored.resolve();
    }
  }

  #dropStored(tail: QueueTail): void {
    for (const waiting of this.#read.size === 0 ? [] : this.#waiting) {
      const left = waiting.deliveries.map(({ id }) => !this.#read.has(id));
      waiting.deliveries = waiting.deliveries.filter((_, index) => left[index]);
      waiting.texts = waiting.texts.filter((_, index) => left[index]);
    }
    this.#read.clear();
    const isStored = ({ texts, position }: Waiting): boolean => texts.length === 0 || hasCommit(tail, position);
    while (this.#waiting[0] !== undefined && isStored(this.#waiting[0])) this.#waiting.shift()?.stored.resolve();
  }

  async #readLast(): Promise<QueueTail> {
    await this.#rest.confirm();
    const last = await this.#ports.queueStore.findLast(this.#webhook);
    const { number, upTo } = this.#rest.state();
    if (last === undefined) return { seq: 0, number, ...(upTo === undefined ? {} : { upTo }) };
    const pack = decodePack(last.text);
    this.#read = new Set(pack.deliveries.map(({ id }) => id));
    const told = pack.upTo ?? upTo;
    return { seq: last.seq, number: pack.number, ...(told === undefined ? {} : { upTo: told }) };
  }

  /** What is stored first is the one that is too large: others are packed with it only up to a size that fits. */
  async #buryFirst(reason: string): Promise<void> {
    const [first] = this.#waiting;
    if (first === undefined) return;
    await this.#bury(first, reason).catch((error: unknown) =>
      this.#ports.log.warn({ op: "line.store", "webhook.id": this.#webhook, err: error }, "a dead letter is not written yet, trying again"),
    );
  }

  async #bury(first: Waiting, reason: string): Promise<void> {
    const diedAt = this.#ports.clock.now();
    // None of them was attempted.
    await this.#ports.history.recordDeadLetters(
      first.deliveries.map((delivery) => deadLetter({ ...delivery, attempt: 0 }, reason, diedAt)),
    );
    if (this.#waiting[0] === first) this.#waiting.shift();
    first.stored.resolve();
  }

  #giveUp(): void {
    for (const { stored } of this.#waiting.splice(0)) {
      if (this.#signal.reason === lineIsGone) stored.resolve();
      else stored.reject(new Error("stopped before the delivery was in line"));
    }
  }
}
