import type { InvocationNumber } from "../domain/invocation.ts";
import { partitionOf } from "../domain/partition.ts";
import { GivenBack } from "./given-back.ts";

export interface ShareLimits {
  /** Invocations of one owner that wait in this runner, of each partition. */
  readonly waiting: number;
  /** All that wait of one owner, bytes. */
  readonly waitingBytes: number;
}

export interface Shared {
  readonly source: string;
  readonly owner: string;
  readonly position: InvocationNumber;
  readonly bytes: number;
}

interface Owner {
  /** By partition. */
  readonly waiting: Map<number, number>;
  bytes: number;
}

interface Source {
  readonly owner: string;
  readonly givenBack: GivenBack;
  /**
   * Time that a run takes, with the wait for its turn, while another waits behind it; ms. Rather too short than too long: a first run,
   * whose isolate has to be made, tells little of those behind it.
   */
  paceMs: number;
}

const firstPaceMs = 10;

/**
 * How much of what waits may wait here. What is beyond an owner's share stays in the stream: it is given back for about as long as
 * its turn takes to come, so that what others have behind it in the same partition is handed out meanwhile. Pure but for what it counts.
 */
export class Shares {
  readonly #limits: ShareLimits;
  readonly #owners = new Map<string, Owner>();
  /** Those of which something was given back. */
  readonly #sources = new Map<string, Source>();
  /** What waits here and what is given back, of each partition and of each owner in it. */
  readonly #outstanding = new Map<string, number>();

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /** Invocations that are in the stream because their owner has enough of them here. */
  get givenBack(): number {
    let sum = 0;
    for (const { givenBack } of this.#sources.values()) sum += givenBack.size;
    return sum;
  }

  givenBackOf(source: string): number {
    return this.#sources.get(source)?.givenBack.size ?? 0;
  }

  /** It was given back, and has come again. */
  isGivenBack({ source, position }: Shared): boolean {
    return this.#sources.get(source)?.givenBack.has(position) === true;
  }

  /** Invocations that wait here or are given back, of a partition or of one owner in it. */
  outstanding(partition: number, owner?: string): number {
    return this.#outstanding.get(placeOf(partition, owner)) ?? 0;
  }

  /** How many more of the owner's may wait here, of that partition. */
  roomOf(partition: number, id: string): number {
    return this.isFull(id) ? 0 : this.#limits.waiting - (this.#owners.get(id)?.waiting.get(partition) ?? 0);
  }

  /** As many bytes of the owner's wait here as may. */
  isFull(owner: string): boolean {
    return (this.#owners.get(owner)?.bytes ?? 0) >= this.#limits.waitingBytes;
  }

  /** Takes it in, or returns false: then it has to be given back, see `leave`. */
  admit(entry: Shared, now: number): boolean {
    if (this.mayEnter(entry, now)) {
      this.take(entry);
      return true;
    }
    const source = this.#sources.get(entry.source) ?? this.#addSource(entry);
    this.#change(entry.source, source, (givenBack) => givenBack.add(entry.position));
    return false;
  }

  /** Whether there is room for it, and nothing before it is still on its way. */
  mayEnter(entry: Shared, now: number): boolean {
    const known = this.#sources.get(entry.source);
    const isBehind = known !== undefined && this.#change(entry.source, known, (givenBack) => givenBack.hasBefore(entry.position, now));
    return this.#hasRoom(entry) && !isBehind;
  }

  /**
   * What was not taken in leaves this runner now.
   *
   * @param here of its source, how many wait here
   * @param busyMs how long the source's present run, or the wait for it, has taken
   * @returns after how many ms it should come again
   */
  leave({ source, position }: Shared, now: number, here: number, busyMs: number): number {
    const known = this.#sources.get(source);
    return known === undefined ? 0 : known.givenBack.leave(position, { here, busyMs, paceMs: known.paceMs }, now);
  }

  /** It has no need to run any more: should it have been given back before, nothing waits for it. */
  drop({ source, position }: Shared): void {
    const known = this.#sources.get(source);
    if (known !== undefined) this.#change(source, known, (givenBack) => givenBack.remove(position));
  }

  /** It waits no more: it runs now. */
  release({ source, owner: id, bytes }: Shared): void {
    const owner = this.#owners.get(id);
    if (owner === undefined) return;
    const partition = partitionOf(source);
    const left = (owner.waiting.get(partition) ?? 0) - 1;
    if (left > 0) owner.waiting.set(partition, left);
    else owner.waiting.delete(partition);
    owner.bytes -= bytes;
    this.#count(partition, id, -1);
    if (owner.waiting.size === 0) this.#owners.delete(id);
  }

  /** A run of the source has ended, and took so long since its turn was due. */
  ran(source: string, tookMs: number): void {
    const known = this.#sources.get(source);
    if (known !== undefined) known.paceMs += (tookMs - known.paceMs) / (tookMs < known.paceMs ? 2 : 8);
  }

  /** @returns sources of which nothing is given back any more, with their owners: all of it has come again, or went elsewhere */
  sweep(now: number): readonly { readonly source: string; readonly owner: string }[] {
    const over = [...this.#sources].filter(([id, source]) => this.#change(id, source, (givenBack) => givenBack.isOver(now)));
    for (const [source] of over) this.#sources.delete(source);
    return over.map(([source, { owner }]) => ({ source, owner }));
  }

  /** Takes it in, whatever there is already, and whatever stands before it. */
  take(entry: Shared): void {
    const { source, owner: id, bytes } = entry;
    const owner = this.#owners.get(id) ?? { waiting: new Map<number, number>(), bytes: 0 };
    this.#owners.set(id, owner);
    const partition = partitionOf(source);
    owner.waiting.set(partition, (owner.waiting.get(partition) ?? 0) + 1);
    owner.bytes += bytes;
    this.#count(partition, id, 1);
    this.drop(entry);
  }

  /** There is always room for one, however large. */
  #hasRoom({ source, owner: id, bytes }: Shared): boolean {
    const owner = this.#owners.get(id);
    const waiting = owner?.waiting.get(partitionOf(source)) ?? 0;
    return waiting === 0 || (waiting < this.#limits.waiting && (owner?.bytes ?? 0) + bytes <= this.#limits.waitingBytes);
  }

  #change<T>(id: string, { owner, givenBack }: Source, change: (givenBack: GivenBack) => T): T {
    const before = givenBack.size;
    const changed = change(givenBack);
    if (givenBack.size !== before) this.#count(partitionOf(id), owner, givenBack.size - before);
    return changed;
  }

  #count(partition: number, owner: string, by: number): void {
    for (const place of [placeOf(partition), placeOf(partition, owner)]) {
      const count = (this.#outstanding.get(place) ?? 0) + by;
      if (count > 0) this.#outstanding.set(place, count);
      else this.#outstanding.delete(place);
    }
  }

  #addSource({ source: id, owner }: Shared): Source {
    const source = { owner, givenBack: new GivenBack(), paceMs: firstPaceMs };
    this.#sources.set(id, source);
    return source;
  }
}

const placeOf = (partition: number, owner = ""): string => `${partition} ${owner}`;
