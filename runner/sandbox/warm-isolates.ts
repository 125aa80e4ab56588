import type { LogRecord } from "../../domain/invocation.ts";
import { GuestContext } from "./context.ts";
import type { GuestIsolate } from "./isolate.ts";
import { limits } from "./limits.ts";
import type { IsolateKind, Nursery } from "./nursery.ts";
import type { Warm } from "./protocol.ts";

/** A source with its bundle loaded in a context of its own. */
export interface WarmSource {
  readonly source: string;
  readonly revision: string;
  readonly place: SharedIsolate;
  readonly context: GuestContext;
  /** What the module's top level logged, for the log of the first run. */
  loadLogs: readonly LogRecord[];
  runs: number;
  isBusy: boolean;
  /** Epoch ms. */
  lastUsedAt: number;
}

/** An isolate and the sources in it. Everything that they must have in common is in its key. */
export interface SharedIsolate {
  readonly key: string;
  /** Above this it takes no more sources: every run needs room of its own. */
  readonly maxSharedBytes: number;
  /** The first context of a new isolate, from which the others get the isolate. */
  readonly first: Promise<GuestContext>;
  /** Undefined until the first context is ready. */
  isolate: GuestIsolate | undefined;
  readonly sources: Set<WarmSource>;
  /** Contexts that are being created or load their bundle. */
  opening: number;
  /** A context kept ready for the next source; undefined if it could not be created. */
  spare: Promise<GuestContext | undefined> | undefined;
  /** Epoch ms. */
  lastOpenedAt: number;
  bytes: number;
  /** Runs that have ended since `bytes` was measured. */
  unmeasuredRuns: number;
  /** Epoch ms. */
  lastUsedAt: number;
  /** Whether garbage was collected since the last measurement. */
  isCollected: boolean;
}

/** A context whose bundle is not loaded yet. */
export interface OpenedContext {
  readonly place: SharedIsolate;
  readonly context: GuestContext;
}

/** Of an isolate's memory limit, what its sources may hold at rest before it takes no more of them. */
const sharedHeapShare = 0.25;
const runsBetweenMeasurements = 50;

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
   * A new context: in an isolate with this key that has room, or in a new one. `add` or `close` must follow.
   *
   * @throws if no isolate can be created, or if the shared one is disposed in the meantime
   */
  async open(key: string, kind: IsolateKind, owner: string): Promise<OpenedContext> {
    const known = this.#find(key);
    const place = known ?? this.#create(key, kind, owner);
    place.opening += 1;
    try {
      const first = await place.first;
      place.isolate = first.isolate;
      return { place, context: known === undefined ? first : await this.#further(place, first.isolate) };
    } catch (error) {
      this.close(place);
      throw error;
    }
  }

  /** The bundle is loaded in the context, and the source runs. A context that the source had before is dropped when its run ends. */
  add(opened: OpenedContext, source: string, revision: string, loadLogs: readonly LogRecord[]): WarmSource {
    const before = this.#bySource.get(source);
    if (before !== undefined) this.#bySource.delete(source);
    const warm: WarmSource = { source, revision, ...opened, loadLogs, runs: 0, isBusy: true, lastUsedAt: 0 };
    opened.place.opening -= 1;
    opened.place.sources.add(warm);
    this.#bySource.set(source, warm);
    return warm;
  }

  /** An opened context will not be added. */
  close(place: SharedIsolate, context?: GuestContext): void {
    context?.drop();
    place.opening -= 1;
    if (place.sources.size === 0 && place.opening === 0) this.#discard(place);
  }

  /** Keeps a busy source after its run, or drops it when it has served its time. */
  keep(warm: WarmSource): void {
    if (!this.#isKnown(warm) || warm.context.isSpent || warm.runs >= limits.runsPerContext) return this.drop(warm);
    warm.isBusy = false;
    const { place } = warm;
    place.lastUsedAt = warm.lastUsedAt = Date.now();
    place.unmeasuredRuns += 1;
    if (warm.runs === 1 || place.unmeasuredRuns >= runsBetweenMeasurements) {
      place.isCollected = false;
      void this.#measure(place); // Never rejects.
    }
  }

  drop(warm: WarmSource): void {
    if (this.#isKnown(warm)) this.#bySource.delete(warm.source);
    const { place } = warm;
    place.sources.delete(warm);
    place.isCollected = false;
    warm.context.drop();
    if (place.sources.size === 0 && place.opening === 0) this.#discard(place);
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
      if (place.lastOpenedAt < Date.now() - limits.spareMs) dropSpare(place);
      if (isolate !== undefined && (isolate.isDisposed || (isIdle(place) && isolate.computesUnasked))) this.#discard(place);
    }
  }

  /**
   * Has one isolate at rest return the memory that it does not need: V8 collects when a heap grows, and this one may not for hours. One
   * at a time, since it takes some 10 ms of a core.
   */
  async collectOne(): Promise<void> {
    const restingSince = Date.now() - limits.collectAfterMs;
    const isDue = (place: SharedIsolate): boolean =>
      isIdle(place) && !place.isCollected && place.lastUsedAt < restingSince && place.bytes <= limits.collectedBytes;
    const place = this.#collecting === undefined ? this.#isolates.values().find(isDue) : undefined;
    if (place === undefined) return;
    this.#collecting = place;
    place.isCollected = true;
    try {
      await place.isolate?.collectGarbage();
      await this.#measure(place);
    } catch {
      // What an interrupted collection leaves behind would be the next entry's.
      if (isIdle(place)) this.#discard(place);
    } finally {
      this.#collecting = undefined;
    }
  }

  #isKnown(warm: WarmSource): boolean {
    return this.#bySource.get(warm.source) === warm;
  }

  #find(key: string): SharedIsolate | undefined {
    return this.#isolates.values().find((place) => place.key === key && hasRoom(place));
  }

  #create(key: string, kind: IsolateKind, owner: string): SharedIsolate {
    const place: SharedIsolate = {
      key,
      maxSharedBytes: kind.memoryMb * 2 ** 20 * sharedHeapShare,
      first: this.#nursery.take(kind, owner),
      isolate: undefined,
      sources: new Set(),
      opening: 0,
      spare: undefined,
      lastOpenedAt: Date.now(),
      bytes: 0,
      unmeasuredRuns: 0,
      lastUsedAt: Date.now(),
      isCollected: false,
    };
    this.#isolates.add(place);
    return place;
  }

  /** Most of the cost of a further context is paid before it is needed, if sources come one after the other. */
  async #further(place: SharedIsolate, isolate: GuestIsolate): Promise<GuestContext> {
    const { spare } = place;
    place.spare = undefined;
    place.lastOpenedAt = Date.now();
    setTimeout(() => {
      if (place.spare === undefined && hasRoom(place)) place.spare = GuestContext.create(isolate).catch(() => undefined);
    }, limits.refillAfterMs);
    return (await spare) ?? (await GuestContext.create(isolate));
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
    if (!isIdle(place)) return;
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
    place.isCollected = false;
  }

  #discard(place: SharedIsolate): void {
    if (!this.#isolates.delete(place)) return;
    this.#bytes -= place.bytes;
    for (const warm of place.sources) if (this.#isKnown(warm)) this.#bySource.delete(warm.source);
    place.isolate?.dispose();
  }
}

function dropSpare(place: SharedIsolate): void {
  void place.spare?.then((context) => context?.drop());
  place.spare = undefined;
}

function isIdle(place: SharedIsolate): boolean {
  return place.opening === 0 && place.sources.values().every(({ isBusy }) => !isBusy);
}

function hasRoom({ sources, opening, bytes, maxSharedBytes, isolate }: SharedIsolate): boolean {
  return sources.size + opening < limits.contextsPerIsolate && bytes < maxSharedBytes && isolate?.isDisposed !== true;
}
