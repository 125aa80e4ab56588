import type { LogRecord } from "../../../domain/run-products.ts";
import type { GuestContext } from "./context.ts";
import { limits } from "../limits.ts";
import type { IsolateKind, Nursery } from "./spare-isolates.ts";
import { SharedIsolate, type WarmSource } from "./shared-isolate.ts";

/** What a child keeps warm. */
export interface Warm {
  readonly isolates: number;
  readonly sources: number;
}

/** A context whose bundle is not loaded yet. */
export interface OpenedContext {
  readonly place: SharedIsolate;
  readonly context: GuestContext;
}

const runsBetweenMeasurements = 50;
/** Sources of one key that all start at once are spread over as many isolates as may compute at once. */
const maxParallel = limits.entriesOfLoneOwner;
/** An isolate in which so many start or wait is too busy for one more source, until there are `maxParallel`. */
const maxQueued = 2;

/**
 * Warm sources, and the isolates that they share.
 *
 * When the isolates hold more memory than the budget, idle ones are evicted at random, whole: that returns their memory at once, while
 * the memory of a single context comes back when V8 collects. Not the least recently used first, because timers run sources in turns:
 * with a few more sources than fit, each would be evicted just before its turn.
 */
export class WarmIsolates {
  readonly #bySource = new Map<string, WarmSource>();
  readonly #isolates = new Set<SharedIsolate>();
  readonly #nursery: Pick<Nursery, "take">;
  readonly #budgetBytes: number;
  readonly #random: () => number;
  #bytes = 0;
  #evictions = 0;
  #collecting: SharedIsolate | undefined;

  /** @param random in [0, 1) */
  constructor(nursery: Pick<Nursery, "take">, budgetBytes: number, random: () => number = Math.random) {
    this.#nursery = nursery;
    this.#budgetBytes = budgetBytes;
    this.#random = random;
  }

  get count(): Warm {
    return { isolates: this.#isolates.size, sources: this.#bySource.size };
  }

  /** Sources evicted since the last call to make room for others. */
  takeEvictions(): number {
    const evictions = this.#evictions;
    this.#evictions = 0;
    return evictions;
  }

  /** The source's context, marked busy. One of another revision, or in an isolate with another key, is dropped. */
  take(source: string, revision: string, key: string): WarmSource | undefined {
    const warm = this.#bySource.get(source);
    if (warm === undefined || warm.isBusy) return undefined;
    if (warm.revision !== revision || warm.place.key !== key || warm.context.isSpent) {
      this.drop(warm);
      return undefined;
    }
    warm.isBusy = true;
    return warm;
  }

  /**
   * A new context: in an isolate with this key that has room, or in a new one. `add` or `close` must follow if it resolves.
   *
   * @throws if no isolate can be created, or if the shared one is disposed in the meantime
   */
  async open(key: string, kind: IsolateKind, owner: string): Promise<OpenedContext> {
    const place = this.#find(key) ?? new SharedIsolate(key, kind.memoryMb, this.#nursery.take(kind, owner));
    this.#isolates.add(place);
    try {
      return { place, context: await place.open() };
    } catch (error) {
      if (place.isEmpty) this.#discard(place);
      throw error;
    }
  }

  /** The bundle is loaded in the context, and the source runs. A context that the source had before is dropped when its run ends. */
  add(opened: OpenedContext, source: string, revision: string, loadLogs: readonly LogRecord[]): WarmSource {
    const before = this.#bySource.get(source);
    if (before !== undefined) this.#bySource.delete(source);
    const warm: WarmSource = { source, revision, ...opened, loadLogs, runs: 0, isBusy: true, lastUsedAt: 0 };
    opened.place.endOpening();
    opened.place.sources.add(warm);
    this.#bySource.set(source, warm);
    return warm;
  }

  /** An opened context will not be added. */
  close({ place, context }: OpenedContext): void {
    context.drop();
    place.endOpening();
    if (place.isEmpty) this.#discard(place);
  }

  /** Keeps a busy source after its run, or drops it when it has served its time. */
  keep(warm: WarmSource): void {
    if (!this.#isKnown(warm) || warm.context.isSpent || warm.runs >= limits.runsPerContext) return this.drop(warm);
    warm.isBusy = false;
    const { place } = warm;
    place.lastUsedAt = warm.lastUsedAt = Date.now();
    place.unmeasuredRuns += 1;
    if (warm.runs === 1 || place.unmeasuredRuns >= runsBetweenMeasurements) {
      void this.#measure(place); // Never rejects.
    }
  }

  drop(warm: WarmSource): void {
    if (this.#isKnown(warm)) this.#bySource.delete(warm.source);
    const { place } = warm;
    place.sources.delete(warm);
    place.noteDropped();
    warm.context.drop();
    if (place.isEmpty) this.#discard(place);
  }

  /** A busy one is dropped when its run ends. */
  evict(source: string): void {
    const warm = this.#bySource.get(source);
    if (warm === undefined) return;
    if (warm.isBusy) this.#bySource.delete(source);
    else this.drop(warm);
  }

  /** Drops sources that have been idle for too long, and isolates that compute although nothing runs in them. */
  sweep(): void {
    const idleSince = Date.now() - limits.idleMs;
    for (const warm of this.#bySource.values()) if (!warm.isBusy && warm.lastUsedAt < idleSince) this.drop(warm);
    for (const place of this.#isolates) {
      const { isolate } = place;
      place.dropUnusedSpare();
      if (isolate !== undefined && (isolate.isDisposed || (place.isIdle && isolate.computesUnasked()))) this.#discard(place);
    }
  }

  /**
   * Has one isolate at rest return the memory that it does not need: V8 collects when a heap grows, and this one may not for hours. One
   * at a time, since it takes some 10 ms of a core, and 100 ms for 64 contexts.
   */
  async collectOne(): Promise<void> {
    const restingSince = Date.now() - limits.collectAfterMs;
    const isDue = (place: SharedIsolate): boolean => place.isIdle && place.lastUsedAt < restingSince && place.isWorthCollecting;
    const place = this.#collecting === undefined ? this.#isolates.values().find(isDue) : undefined;
    if (place === undefined) return;
    this.#collecting = place;
    try {
      await place.isolate?.collectGarbage();
      await this.#measure(place);
      place.noteCollected();
    } catch {
      // What an interrupted collection leaves behind would be the next entry's.
      if (place.isIdle) this.#discard(place);
    } finally {
      this.#collecting = undefined;
    }
  }

  #isKnown(warm: WarmSource): boolean {
    return this.#bySource.get(warm.source) === warm;
  }

  /** The least busy one that has room. Undefined if there is none, or if another one would let more of its sources compute at once. */
  #find(key: string): SharedIsolate | undefined {
    const places = Array.from(this.#isolates.values().filter((place) => place.key === key && place.hasRoom));
    const [best] = places.toSorted((a, b) => a.queued - b.queued);
    return best !== undefined && best.queued >= maxQueued && places.length < maxParallel ? undefined : best;
  }

  /** Never rejects. */
  async #measure(place: SharedIsolate): Promise<void> {
    place.unmeasuredRuns = 0;
    const bytes = await place.isolate?.heapBytes().catch(() => undefined);
    if (bytes === undefined || !this.#isolates.has(place)) return;
    this.#bytes += bytes - place.bytes;
    place.bytes = bytes;
    if (this.#bytes > this.#budgetBytes) this.#shrink();
  }

  #shrink(): void {
    const all = [...this.#isolates];
    const start = Math.floor(this.#random() * all.length);
    const shuffled = [...all.slice(start), ...all.slice(0, start)];
    for (const evict of [this.#evictIdle, this.#evictIdleSources]) {
      for (const place of shuffled) {
        evict.call(this, place);
        if (this.#bytes <= this.#budgetBytes) return;
      }
    }
  }

  #evictIdle(place: SharedIsolate): void {
    if (!place.isIdle) return;
    this.#evictions += place.sources.size;
    this.#discard(place);
  }

  /** For isolates in which something runs, perhaps for minutes. What this frees is an estimate until the isolate is measured again. */
  #evictIdleSources(place: SharedIsolate): void {
    const idle = [...place.sources].filter(({ isBusy }) => !isBusy);
    const bytes = (place.bytes * idle.length) / Math.max(1, place.sources.size);
    for (const warm of idle) this.drop(warm);
    this.#evictions += idle.length;
    if (!this.#isolates.has(place)) return;
    place.bytes -= bytes;
    this.#bytes -= bytes;
  }

  #discard(place: SharedIsolate): void {
    if (!this.#isolates.delete(place)) return;
    this.#bytes -= place.bytes;
    for (const warm of place.sources) if (this.#isKnown(warm)) this.#bySource.delete(warm.source);
    place.isolate?.dispose();
  }
}
