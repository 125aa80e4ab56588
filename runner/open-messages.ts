import { LRUCache } from "lru-cache";
import { decodePack, type Invocation } from "../domain/invocation.ts";
import { OpenNumbers } from "./open-numbers.ts";
import type { IntakeMessage } from "./ports.ts";
import type { Disposition, Waiting } from "./waiting.ts";

/** An open message is reported to NATS as in progress after at most twice this time, which is below the consumer's ack wait of 10 s. */
const workingEveryMs = 4_000;
const retryDelayMs = 2_000;
/**
 * Acks are told together. By itself each makes the server sync its consumer's state to disk and, when nothing else waits, begin a new file.
 * One that is lost meanwhile is as one lost with the connection: the message comes again, and is known to be answered.
 */
const ackEveryMs = 250;
const mostUntold = 256;
/** Messages that went back and of which it is known what need not be run again; of what is forgotten the histories know. */
const mostRemembered = 20_000;

interface Open {
  readonly message: IntakeMessage;
  /** Sources by the sequence of the number under which their invocations are answered. */
  readonly sources: Map<number, Set<string>>;
  left: number;
  /** Indexes of those that are done. */
  readonly done: Set<number>;
  /** Handed out since the server was told last. */
  isYoung: boolean;
  /** An invocation of it was not answered: the whole message has to be redelivered. */
  isPostponed: boolean;
}

/** What became of a message: it was acked, or it is redelivered after a moment. */
export type MessageEnd = "ack" | "postpone";
type OnEnd = (end: MessageEnd, seq: number, sources: ReadonlySet<string>) => void;

/** Messages handed out and not settled. A message is acked soon after each invocation of its pack was done, postponed if one was not. */
export class OpenMessages {
  readonly #open = new Set<Open>();
  /** How many of them have invocations of this number: one that was taken for lost is handed out twice. */
  readonly #numbers = new OpenNumbers();
  /** By sequence, what is done of messages that went back: it must not take the places of what is not. */
  readonly #done = new LRUCache<number, { readonly storedAt: number; readonly indexes: ReadonlySet<number> }>({ max: mostRemembered });
  readonly #timer: NodeJS.Timeout;
  readonly #onEnd: OnEnd;
  /** Done, and not acked yet. */
  readonly #untold: IntakeMessage[] = [];
  #telling: NodeJS.Timeout | undefined;

  /** @param onEnd called with the sequence of the number under which the invocations of these sources are answered */
  constructor(onEnd: OnEnd) {
    this.#onEnd = onEnd;
    this.#timer = setInterval(() => this.#tellWorking(), workingEveryMs);
  }

  get size(): number {
    return this.#open.size;
  }

  /** Whether some invocation with a number of that sequence is here, or is to come again with others of its message that need not be run. */
  isOpen(seq: number): boolean {
    return this.#numbers.has(seq) || this.#done.has(seq);
  }

  /** The invocations of a message, each to be settled once; without those that are done, should it have gone back. */
  take(message: IntakeMessage): readonly Waiting[] {
    const invocations = decodePack(message.text);
    if (invocations.length === 0) this.#ack(message);
    const done = new Set(this.#doneOf(message));
    const open: Open = {
      message,
      sources: bySequence(invocations, message.seq),
      left: invocations.length - done.size,
      done,
      isYoung: true,
      isPostponed: false,
    };
    if (open.left > 0) this.#open.add(open);
    const bytes = Math.ceil(message.text.length / invocations.length);
    const waiting = invocations.flatMap((invocation, index) => (done.has(index) ? [] : [this.#waiting(open, invocation, index, bytes)]));
    this.#numbers.enter(open.sources.keys());
    return waiting;
  }

  /** Whatever is done is acked. */
  stop(): void {
    clearInterval(this.#timer);
    this.#tellAcks();
  }

  #ack(message: IntakeMessage): void {
    this.#untold.push(message);
    if (this.#untold.length >= mostUntold) this.#tellAcks();
    else this.#telling ??= setTimeout(() => this.#tellAcks(), ackEveryMs);
  }

  #tellAcks(): void {
    clearTimeout(this.#telling);
    this.#telling = undefined;
    for (const message of this.#untold.splice(0)) message.ack();
  }

  #waiting(open: Open, invocation: Invocation, index: number, bytes: number): Waiting {
    const { seq, storedAt } = open.message;
    const position = { seq, index };
    const received = { invocation, number: invocation.movedFrom ?? position, position, storedAt };
    let settled = false;
    const settle = (disposition: Disposition): void => {
      if (settled) return;
      settled = true;
      if (disposition === "later") open.isPostponed = true;
      else open.done.add(index);
      if (--open.left === 0) this.#close(open);
    };
    return { received, bytes, settle };
  }

  #doneOf({ seq, storedAt }: IntakeMessage): ReadonlySet<number> {
    const known = this.#done.get(seq);
    return known?.storedAt === storedAt ? known.indexes : new Set();
  }

  #close(open: Open): void {
    this.#open.delete(open);
    const { seq: at, storedAt } = open.message;
    const end = open.isPostponed ? "postpone" : "ack";
    if (end === "postpone" && open.done.size > 0) this.#done.set(at, { storedAt, indexes: open.done });
    else this.#done.delete(at);
    if (end === "ack") this.#ack(open.message);
    else open.message.postpone(retryDelayMs);
    for (const [seq, sources] of open.sources) {
      this.#numbers.leave([seq]);
      this.#onEnd(end, seq, sources);
    }
  }

  /** Most are settled sooner than that: the young ones are left for the next time. */
  #tellWorking(): void {
    for (const open of this.#open) {
      if (open.isYoung) open.isYoung = false;
      else open.message.working();
    }
  }
}

function bySequence(invocations: readonly Invocation[], seq: number): Map<number, Set<string>> {
  const sources = new Map<number, Set<string>>();
  for (const { source, movedFrom } of invocations) {
    const under = movedFrom?.seq ?? seq;
    const known = sources.get(under);
    if (known === undefined) sources.set(under, new Set([source]));
    else known.add(source);
  }
  return sources;
}
