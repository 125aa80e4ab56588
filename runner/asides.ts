import { LRUCache } from "lru-cache";
import { decodePack } from "../domain/invocation.ts";
import { partitionOf } from "../domain/partition.ts";
import { Aside, type Taken } from "./aside.ts";
import { LayQueue } from "./lay-queue.ts";
import { OpenNumbers } from "./open-numbers.ts";
import type { AsideGate } from "./overflow.ts";
import type { AsideMessage, AsideStore, IntakeMessage, LaidAside, Log } from "./ports.ts";
import type { Waiting } from "./waiting.ts";

export interface AsidesPorts {
  readonly store: AsideStore;
  readonly log: Log;
  readonly onMessage: (message: IntakeMessage) => void;
  /** What was answered under that number lies aside no more; @param mayCome it may come from where it stood before */
  readonly onCleared: (seq: number, source: string, mayCome: boolean) => void;
  /** Whether the message of that sequence is here, or is to come again with others of it that need not be run. */
  readonly isHere: (seq: number) => boolean;
  /** How many more invocations of the source may be taken up now. */
  readonly roomFor: (source: string, owner: string) => number;
  readonly ownerOf: (source: string) => string | undefined | Promise<string | undefined>;
}

/** Messages of one source that are taken up and not cleared. */
const mostTaken = 128;
const takenAtOnce = 64;
/** Requests under way for messages. */
const mostTaking = 16;
/** Messages of a partition. Beyond that the window fills, and endpoints are refused: what is accepted has to be run within reason. */
const mostAside = 100_000;
const lookEveryMs = 250;
const listEveryMs = 60_000;
const listRetryMs = 500;
/** Somebody serves such requests, or nobody does: then sources run all the same. */
const listTries = 20;

/** What lies aside in the partitions that this runner pulls, see overflow.ts. */
export class Asides implements AsideGate {
  readonly #ports: AsidesPorts;
  readonly #asides = new Map<string, Aside>();
  /** By partition. */
  readonly #queues = new Map<number, LayQueue>();
  /** Messages that lie aside, by partition; about. */
  readonly #counts = new Map<number, number>();
  /** Messages that were taken up of partitions that somebody else has by now, until their turn comes. */
  readonly #lost = new Set<number>();
  /** Of what is taken up. */
  readonly #numbers = new OpenNumbers();
  /** By source, up to which message all was answered and cleared. What a server that was killed came back with of it is answered. */
  readonly #clearedUpTo = new LRUCache<string, number>({ max: 10_000 });
  #taking = 0;
  #looking: NodeJS.Timeout | undefined;
  #listing: NodeJS.Timeout | undefined;

  constructor(ports: AsidesPorts) {
    this.#ports = ports;
  }

  start(): void {
    this.#looking = setInterval(() => this.#look(), lookEveryMs);
    this.#listing = setInterval(() => this.#listAgain(), listEveryMs);
  }

  stop(): void {
    clearInterval(this.#looking);
    clearInterval(this.#listing);
    for (const partition of this.#queues.keys()) this.close(partition);
  }

  get size(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Learns what lies aside of a partition, before anything of it is handed out: that belongs behind it. */
  async open(partition: number): Promise<void> {
    this.#queues.set(partition, new LayQueue(this.#ports.store, this.#ports.log));
    await this.#listSoon(partition);
  }

  /** Somebody else pulls the partition now, and takes up what lies there. */
  close(partition: number): void {
    this.#queues.get(partition)?.close();
    this.#queues.delete(partition);
    for (const aside of this.#asides.values()) {
      if (aside.partition !== partition) continue;
      for (const [seq, { isDone }] of aside.taken) if (!isDone) this.#lost.add(seq);
      void this.#clear(aside); // Never rejects; what is not cleared is known to be answered.
      this.#forget(aside);
    }
  }

  /** The server was away: it may have forgotten what it cleared last. */
  lookAgain(): void {
    for (const aside of this.#asides.values()) aside.beginAnew();
    this.#listAgain();
  }

  holds(source: string): boolean {
    const aside = this.#asides.get(source);
    return aside !== undefined && !aside.isTakenUp;
  }

  hasRoom(partition: number): boolean {
    return (this.#counts.get(partition) ?? 0) < mostAside && this.#queues.get(partition)?.hasRoom === true;
  }

  /** Something of the source may lie there that its history has answered. */
  has(source: string): boolean {
    return this.#asides.has(source);
  }

  /** Whether an invocation with a number of that sequence is taken up, or answered and not cleared. */
  isOpen(seq: number): boolean {
    return this.#numbers.has(seq);
  }

  isLaying(partition: number, seq: number, index: number): boolean {
    return this.#queues.get(partition)?.isLaying(seq, index) === true;
  }

  /** Whether that message was taken up here, and somebody else has its partition by now. */
  isLost(seq: number): boolean {
    return this.#lost.has(seq);
  }

  /** Resolves with whether it lies aside now; then the message it stands in need not wait for it. */
  lay({ received: { invocation, position }, bytes }: Pick<Waiting, "received" | "bytes">): Promise<boolean> {
    const { source } = invocation;
    const queue = this.#queues.get(partitionOf(source));
    if (queue === undefined) return Promise.resolve(false);
    const aside = this.#asides.get(source) ?? this.#begin(source);
    aside.isDrained = false;
    aside.laying++;
    return new Promise((resolve) => {
      queue.add({
        ...position,
        source,
        bytes,
        laid: (laid) => {
          aside.laying--;
          if (laid !== undefined) this.#laid(aside, laid);
          resolve(laid !== undefined);
        },
      });
    });
  }

  wake(source: string, owner: string): void {
    const aside = this.#asides.get(source);
    if (aside === undefined) return;
    aside.owner = owner;
    void this.#take(aside); // Never rejects.
  }

  #begin(source: string, isThere = false): Aside {
    const aside = new Aside(source);
    this.#asides.set(source, aside);
    const fields = { op: "source.aside", reason: "owner_share", "source.id": source };
    this.#ports.log.warn(fields, isThere ? "a source's invocations lie aside" : "too much waits of an owner: the rest is laid aside");
    return aside;
  }

  #laid(aside: Aside, { at }: LaidAside): void {
    if (at <= aside.lastLaid) return;
    aside.firstLaid = Math.min(aside.firstLaid, at);
    aside.lastLaid = at;
    this.#count(aside, 1);
  }

  #look(): void {
    for (const aside of this.#asides.values()) {
      void this.#take(aside); // Neither rejects.
      void this.#clear(aside);
    }
  }

  #listAgain(): void {
    for (const partition of this.#queues.keys()) void this.#listSoon(partition); // Never rejects.
  }

  async #listSoon(partition: number): Promise<void> {
    for (let tries = 1; this.#queues.has(partition); tries++) {
      try {
        return await this.#list(partition);
      } catch (error) {
        if (tries === listTries) {
          const fields = { op: "partition.read", partition, err: error };
          return this.#ports.log.warn(fields, "nobody tells what lies aside: what comes may overtake it");
        }
        await new Promise((resolve) => setTimeout(resolve, listRetryMs).unref());
      }
    }
  }

  async #list(partition: number): Promise<void> {
    const counts = await this.#ports.store.list(partition);
    if (!this.#queues.has(partition)) return;
    for (const [source, count] of counts) {
      const aside = this.#asides.get(source) ?? this.#begin(source, true);
      this.#count(aside, count - aside.count);
      aside.isDrained = false;
    }
  }

  async #take(aside: Aside): Promise<void> {
    if (aside.isTaking || aside.isDrained || this.#taking >= mostTaking || aside.taken.size >= mostTaken) return;
    aside.isTaking = true;
    this.#taking++;
    try {
      aside.owner ??= (await this.#ports.ownerOf(aside.source)) ?? "";
      const most = Math.min(takenAtOnce, mostTaken - aside.taken.size, this.#ports.roomFor(aside.source, aside.owner));
      if (most > 0) await this.#takeUp(aside, most);
    } catch {
      // Looked at again in a moment; that nobody serves such requests is told by whoever lays something aside.
    }
    this.#taking--;
    aside.isTaking = false;
  }

  async #takeUp(aside: Aside, most: number): Promise<void> {
    const { laying, lastTaken } = aside;
    const isChecked = lastTaken < aside.firstLaid;
    const { messages, isLast } = await this.#ports.store.take(aside.source, { after: lastTaken, most, isChecked });
    if (this.#asides.get(aside.source) !== aside || aside.lastTaken !== lastTaken) return;
    for (const message of messages) {
      // Another runner laid it there and did not live to ack it where it was. Once that comes here it is known what was answered of it.
      const isSafe = aside.taken.has(message.seq) || !message.isLeft || this.#ports.isHere(message.from);
      if (!isSafe && !aside.hasWaitedFor(message.seq, performance.now())) return;
      aside.lastTaken = message.seq;
      if (!aside.taken.has(message.seq)) this.#hand(aside, message);
    }
    // What was laid in the meantime may not have been seen.
    aside.isDrained = isLast && laying === 0 && aside.laying === 0 && aside.lastTaken >= aside.lastLaid;
    this.#endIfOver(aside);
  }

  #hand(aside: Aside, { seq, text, storedAt }: AsideMessage): void {
    const numbers = [...new Set(decodePack(text).map(({ movedFrom }) => movedFrom?.seq ?? seq))];
    this.#numbers.enter(numbers);
    const taken: Taken = { numbers, isDone: seq <= (this.#clearedUpTo.get(aside.source) ?? 0), isOld: false };
    aside.taken.set(seq, taken);
    if (taken.isDone) return;
    const isTaken = (): boolean => this.#asides.get(aside.source)?.taken.get(seq) === taken;
    const message: IntakeMessage = {
      text,
      seq,
      storedAt,
      wasAside: true,
      ack: () => void (taken.isDone = true),
      postpone: (delayMs) => {
        this.#lost.delete(seq);
        setTimeout(() => isTaken() && this.#ports.onMessage(message), delayMs).unref();
      },
      working: () => undefined,
    };
    this.#ports.onMessage(message);
  }

  async #clear(aside: Aside): Promise<void> {
    const upTo = aside.doneUpTo();
    if (upTo === undefined || aside.isClearing) return;
    aside.isClearing = true;
    try {
      await this.#ports.store.clear(aside.source, upTo);
      if (this.#asides.get(aside.source) === aside) this.#cleared(aside, upTo);
    } catch {
      // Once more in a moment.
    }
    aside.isClearing = false;
  }

  #cleared(aside: Aside, upTo: number): void {
    this.#clearedUpTo.set(aside.source, Math.max(upTo, this.#clearedUpTo.get(aside.source) ?? 0));
    for (const [seq, { numbers, isOld }] of aside.taken) {
      if (seq > upTo) continue;
      aside.taken.delete(seq);
      this.#count(aside, -1);
      this.#numbers.leave(numbers);
      for (const number of numbers) this.#ports.onCleared(number, aside.source, isOld);
    }
    this.#endIfOver(aside);
  }

  #endIfOver(aside: Aside): void {
    if (!aside.isTakenUp || aside.taken.size > 0) return;
    this.#forget(aside);
    this.#ports.log.info({ op: "source.resume", "source.id": aside.source }, "all that lay aside was taken up");
  }

  #forget(aside: Aside): void {
    this.#asides.delete(aside.source);
    this.#count(aside, -aside.count);
    for (const { numbers } of aside.taken.values()) this.#numbers.leave(numbers);
  }

  #count(aside: Aside, by: number): void {
    aside.count += by;
    this.#counts.set(aside.partition, (this.#counts.get(aside.partition) ?? 0) + by);
  }
}
