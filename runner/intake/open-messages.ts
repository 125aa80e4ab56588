import { LRUCache } from "lru-cache";
import { decodePack, type Invocation } from "../../domain/invocation/invocation.ts";
import type { QueuedInvocation, Settlement } from "../schedule/source-queue.ts";
import type { IntakeMessage } from "./ports.ts";

/** Acks are sent together, because NATS writes to disk for each. A lost ack is harmless: the message is redelivered and recognized. */
const ackIntervalMs = 250;
const maxUnsentAcks = 256;
const maxAckedMessages = 20_000;

interface OpenMessage {
  /** The last delivery of the message. After a reset of the consumer, only its ack counts. */
  message: IntakeMessage;
  readonly invocations: readonly Invocation[];
  readonly bytesPerInvocation: number;
  /** Number of its invocations that are queued or running. */
  unsettled: number;
  /** Indexes of the invocations that were released to the next reader of the partition. */
  readonly released: Set<number>;
  /** Called once its ack was sent. */
  readonly afterAck: (() => void)[];
}

/**
 * The messages that this runner received and has not acked. A message is acked soon after all invocations of its pack are finished. When
 * a partition is opened, NATS redelivers all messages that are not acked: those that are still open here are recognized by their sequence.
 *
 *     take ──▶ open ── all finished ──▶ acked ── redelivered ──▶ acked again
 *               │  ▲
 *               └──┘ redelivered: returns only the invocations that were released
 */
export class OpenMessages {
  readonly #pool: string;
  /** By stream sequence. */
  readonly #open = new Map<number, OpenMessage>();
  /** Recently acked messages: stream sequence → epoch ms at which the message was stored. */
  readonly #acked = new LRUCache<number, number>({ max: maxAckedMessages });
  readonly #unsentAcks: { readonly message: IntakeMessage; readonly afterAck: readonly (() => void)[] }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(pool: string) {
    this.#pool = pool;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Returns the invocations of a message that this runner does not have yet. The caller settles each once. */
  take(message: IntakeMessage): readonly QueuedInvocation[] {
    const { seq, storedAt } = message;
    if (this.#acked.get(seq) === storedAt) return this.#ack(message);
    const open = this.#open.get(seq);
    // The same sequence with another time belongs to a recreated stream.
    if (open?.message.storedAt !== storedAt) return this.#begin(message);
    open.message = withoutText(message);
    const indexes = [...open.released];
    open.released.clear();
    open.unsettled += indexes.length;
    return indexes.flatMap((index) => this.#invocation(open, index));
  }

  /** Sends the acks of all finished messages. */
  sendAcks(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const unsent = this.#unsentAcks.splice(0);
    for (const { message } of unsent) message.ack();
    for (const { afterAck } of unsent) for (const action of afterAck) action();
  }

  #begin(message: IntakeMessage): readonly QueuedInvocation[] {
    const invocations = decodePack(message.text);
    if (invocations.length === 0) return this.#ack(message);
    const open: OpenMessage = {
      message: withoutText(message),
      invocations,
      bytesPerInvocation: Math.ceil(message.text.length / invocations.length),
      unsettled: invocations.length,
      released: new Set(),
      afterAck: [],
    };
    this.#open.set(message.seq, open);
    return invocations.flatMap((_, index) => this.#invocation(open, index));
  }

  #invocation(open: OpenMessage, index: number): readonly QueuedInvocation[] {
    const invocation = open.invocations[index];
    if (invocation === undefined) return [];
    const { seq, storedAt } = open.message;
    const position = { pool: this.#pool, seq, index, storedAt };
    let isSettled = false;
    const settle = (settlement: Settlement): void => {
      if (isSettled) return;
      isSettled = true;
      if (settlement === "released") open.released.add(index);
      if (--open.unsettled === 0) this.#close(open);
    };
    const received = {
      invocation,
      position,
      storedAt,
      isNew: open.message.isNew,
      afterAck: (action: () => void) => void open.afterAck.push(action),
    };
    return [{ received, bytes: open.bytesPerInvocation, settle }];
  }

  #close(open: OpenMessage): void {
    const { seq, storedAt } = open.message;
    if (this.#open.get(seq) === open) this.#open.delete(seq);
    if (open.released.size > 0) return;
    this.#acked.set(seq, storedAt);
    this.#ack(open.message, open.afterAck);
  }

  #ack(message: IntakeMessage, afterAck: readonly (() => void)[] = []): readonly QueuedInvocation[] {
    this.#unsentAcks.push({ message, afterAck });
    if (this.#unsentAcks.length >= maxUnsentAcks) this.sendAcks();
    else this.#timer ??= setTimeout(() => this.sendAcks(), ackIntervalMs);
    return [];
  }
}

/** The text is not needed after it was parsed. */
const withoutText = (message: IntakeMessage): IntakeMessage => ({ ...message, text: "" });
