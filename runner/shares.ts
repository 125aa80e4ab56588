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

  /** Takes it in, or returns false: then it has to be given back, see `leave`. */
  admit(entry: Shared, now: number): boolean {
    const known = this.#sources.get(entry.source);
    if (this.#hasRoom(entry) && known?.givenBack.hasBefore(entry.position, now) !== true) {
      this.take(entry);
      return true;
    }
    (known ?? this.#addSource(entry)).givenBack.add(entry.position);
    return false;
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
    this.#sources.get(source)?.givenBack.remove(position);
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
    if (owner.waiting.size === 0) this.#owners.delete(id);
  }

  /** A run of the source has ended, and took so long since its turn was due. */
  ran(source: string, tookMs: number): void {
    const known = this.#sources.get(source);
    if (known !== undefined) known.paceMs += (tookMs - known.paceMs) / (tookMs < known.paceMs ? 2 : 8);
  }

  /** @returns sources of which nothing is given back any more, with their owners: all of it has come again, or went elsewhere */
  sweep(now: number): readonly { readonly source: string; readonly owner: string }[] {
    const over = [...this.#sources].filter(([, { givenBack }]) => givenBack.isOver(now));
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
    this.drop(entry);
  }

  /** There is always room for one, however large. */
  #hasRoom({ source, owner: id, bytes }: Shared): boolean {
    const owner = this.#owners.get(id);
    const waiting = owner?.waiting.get(partitionOf(source)) ?? 0;
    return waiting === 0 || (waiting < this.#limits.waiting && (owner?.bytes ?? 0) + bytes <= this.#limits.waitingBytes);
  }

  #addSource({ source: id, owner }: Shared): Source {
    const source = { owner, givenBack: new GivenBack(), paceMs: firstPaceMs };
    this.#sources.set(id, source);
    return source;
  }
}
