import { LRUCache } from "lru-cache";
import { decodePack, type Invocation } from "../../domain/invocation/invocation.ts";
import type { IntakeMessage } from "../ports.ts";
import type { Disposition, Waiting } from "../schedule/disposition.ts";

/** Acks are sent together. If one is lost, the message is redelivered and recognized. */
const ackEveryMs = 250;
const maxUnsent = 256;
const maxRemembered = 20_000;

interface Open {
  /** As it was delivered last: an ack of an earlier delivery does not count after a reset. */
  message: IntakeMessage;
  readonly invocations: readonly Invocation[];
  readonly bytes: number;
  /** Invocations of it that wait or run. */
  left: number;
  /** Indexes of those that were left to the next reader of the partition. */
  readonly abandoned: Set<number>;
}

/**
 * The messages that this runner was handed and has not acked. One is acked soon after each invocation of its pack is done. NATS delivers
 * all that is not acked again when a partition is opened, so what is here already is recognized by its stream sequence.
 */
export class OpenMessages {
  readonly #pool: string;
  /** By stream sequence. */
  readonly #open = new Map<number, Open>();
  /** Stream sequence → epoch ms at which the message was stored, of those acked lately. */
  readonly #acked = new LRUCache<number, number>({ max: maxRemembered });
  readonly #unsent: IntakeMessage[] = [];
  #sending: NodeJS.Timeout | undefined;

  constructor(pool: string) {
    this.#pool = pool;
  }

  get size(): number {
    return this.#open.size;
  }

  /** The invocations of a message that are not here yet, each to be settled once. */
  take(message: IntakeMessage): readonly Waiting[] {
    const { seq, storedAt } = message;
    if (this.#acked.get(seq) === storedAt) return this.#ack(message);
    const known = this.#open.get(seq);
    if (known?.message.storedAt !== storedAt) return this.#begin(message);
    known.message = withoutText(message);
    const indexes = [...known.abandoned];
    known.abandoned.clear();
    known.left += indexes.length;
    return indexes.flatMap((index) => this.#waiting(known, index));
  }

  /** Sends the acks of all that is done. */
  sendAcks(): void {
    clearTimeout(this.#sending);
    this.#sending = undefined;
    for (const message of this.#unsent.splice(0)) message.ack();
  }

  #begin(message: IntakeMessage): readonly Waiting[] {
    const invocations = decodePack(message.text);
    if (invocations.length === 0) return this.#ack(message);
    const open: Open = {
      message: withoutText(message),
      invocations,
      bytes: Math.ceil(message.text.length / invocations.length),
      left: invocations.length,
      abandoned: new Set(),
    };
    this.#open.set(message.seq, open);
    return invocations.flatMap((_, index) => this.#waiting(open, index));
  }

  #waiting(open: Open, index: number): readonly Waiting[] {
    const invocation = open.invocations[index];
    if (invocation === undefined) return [];
    const { seq, storedAt } = open.message;
    const position = { pool: this.#pool, seq, index, storedAt };
    let settled = false;
    const settle = (disposition: Disposition): void => {
      if (settled) return;
      settled = true;
      if (disposition === "left") open.abandoned.add(index);
      if (--open.left === 0) this.#close(open);
    };
    return [{ received: { invocation, position, storedAt }, bytes: open.bytes, settle }];
  }

  #close(open: Open): void {
    const { seq, storedAt } = open.message;
    if (this.#open.get(seq) === open) this.#open.delete(seq);
    if (open.abandoned.size > 0) return;
    this.#acked.set(seq, storedAt);
    this.#ack(open.message);
  }

  #ack(message: IntakeMessage): readonly Waiting[] {
    this.#unsent.push(message);
    if (this.#unsent.length >= maxUnsent) this.sendAcks();
    else this.#sending ??= setTimeout(() => this.sendAcks(), ackEveryMs);
    return [];
  }
}

/** Its invocations hold all of the text. */
const withoutText = (message: IntakeMessage): IntakeMessage => ({ ...message, text: "" });
