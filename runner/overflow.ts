import { partitionOf } from "../domain/partition.ts";
import { GivenBack } from "./given-back.ts";
import type { Shared, ShareLimits, Shares } from "./shares.ts";

/**
 * Where an invocation waits: `here`, in memory; `back` in the stream, to come again when its turn is about to come; `aside` in it, to be
 * taken up when all before it was run.
 */
export type Place = "here" | "back" | "aside";

export interface OverflowLimits extends Pick<ShareLimits, "waiting"> {
  /** Invocations of one owner that wait here or are given back, of each partition; more are laid aside. */
  readonly outstanding: number;
  /** The same of all owners: from then on whatever is beyond a share is laid aside. */
  readonly partitionOutstanding: number;
}

/** What lies aside, as far as it concerns what comes. */
export interface AsideGate {
  /** Messages that lie aside, about. */
  readonly size: number;
  /** Something of the source lies aside that is still to be taken up: what comes belongs behind it. */
  holds(source: string): boolean;
  /** Whether more of the partition can be laid aside now. */
  hasRoom(partition: number): boolean;
  /** Its owner's share has room again, perhaps. */
  wake(source: string, owner: string): void;
}

/** What else there is to know of what comes. */
export interface Standing {
  /** Whatever the shares say, it stays. */
  readonly isKept: boolean;
  /** It goes behind nothing that lies aside: one tick of a source waits, and what is urgent runs before all that waits. */
  readonly goesBefore: boolean;
  /** Of its owner nothing runs but what is urgent. */
  readonly isParked: boolean;
}

/** How long one message takes to be laid aside, ms, about. */
const layMs = 1;

/**
 * What is beyond an owner's share is given back for a while (shares.ts), but the server counts that as handed out, and hands out no more
 * of a partition than its window: so an owner who has too much of it has the rest laid aside. While something of a source lies there, all
 * of it that comes goes there too, so that its order is kept. Pure but for what it counts.
 */
export class Overflow {
  readonly #shares: Shares;
  readonly #limits: OverflowLimits;
  readonly #asides: AsideGate | undefined;
  /** By source, what is given back since it could not be laid aside at once; what is behind it waits for it. */
  readonly #late = new Map<string, GivenBack>();

  constructor(shares: Shares, limits: OverflowLimits, asides: AsideGate | undefined) {
    this.#shares = shares;
    this.#limits = limits;
    this.#asides = asides;
  }

  /** Counts it there. */
  place(entry: Shared, { isKept, goesBefore, isParked }: Standing, now: number): Place {
    const partition = partitionOf(entry.source);
    const isBehind = this.#isBehind(entry, now);
    if (isKept || (goesBefore && (isParked || isBehind))) {
      this.#shares.take(entry);
      return "here";
    }
    if (this.#asides !== undefined && !goesBefore && !this.#shares.isGivenBack(entry)) {
      if (isBehind) return this.#layAside(entry, partition, now);
      if (this.#isTooMuch(partition, entry.owner) && !this.#shares.mayEnter(entry, now)) return this.#layAside(entry, partition, now);
    }
    return this.#shares.admit(entry, now) ? "here" : "back";
  }

  /**
   * How many invocations of the source may be taken up, when those that were given back before have run: as many as leave half of the
   * share to others of the owner, and one for whoever has nothing here.
   */
  roomFor(source: string, owner: string, isHere: boolean): number {
    if (this.#shares.givenBackOf(source) > 0) return 0;
    const room = Math.ceil(this.#shares.roomOf(partitionOf(source), owner) - this.#limits.waiting / 2);
    return Math.max(room, isHere || this.#shares.isFull(owner) ? 0 : 1);
  }

  /** What was given back since it could not be laid aside at once: after how many ms it should come again; undefined: it was not. */
  leave({ source, position }: Shared, now: number): number | undefined {
    const late = this.#late.get(source);
    return late?.has(position) === true ? late.leave(position, { here: 0, paceMs: layMs, busyMs: 0 }, now) : undefined;
  }

  sweep(now: number): void {
    for (const [source, late] of this.#late) if (late.isOver(now)) this.#late.delete(source);
  }

  #isBehind({ source, position }: Shared, now: number): boolean {
    const late = this.#late.get(source);
    return this.#asides?.holds(source) === true || late?.has(position) === true || late?.hasBefore(position, now) === true;
  }

  #isTooMuch(partition: number, owner: string): boolean {
    const { outstanding, partitionOutstanding } = this.#limits;
    return this.#shares.outstanding(partition, owner) >= outstanding || this.#shares.outstanding(partition) >= partitionOutstanding;
  }

  #layAside({ source, position }: Shared, partition: number, now: number): Place {
    const late = this.#late.get(source);
    if (this.#asides?.hasRoom(partition) === true && late?.hasBefore(position, now) !== true) {
      late?.remove(position);
      return "aside";
    }
    const given = late ?? new GivenBack();
    this.#late.set(source, given);
    given.add(position);
    return "back";
  }
}
