import type { GuestIsolate } from "./isolate.ts";
import { limits } from "./limits.ts";
import type { LogRecord } from "../../domain/invocation.ts";

/** An isolate with a source's bundle in it. */
export interface WarmIsolate {
  readonly source: string;
  readonly revision: string;
  readonly guest: GuestIsolate;
  /** Characters of the bundle. */
  readonly codeLength: number;
  /** What the module's top level logged, for the log of the first run. */
  loadLogs: readonly LogRecord[];
  runs: number;
  busy: boolean;
  bytes: number;
  lastUsedAt: number;
  /** CPU time when it came to rest: it must not grow after that. */
  restingCpuMs: number;
  /** Whether what its runs left behind was collected since its memory was last looked at. */
  isCollected: boolean;
}

/**
 * Isolates by source. When they hold more memory than the budget, some go at random; busy ones never do. Timers have sources run in
 * turns: with the least recently used first out, a few sources more than fit would have every one gone just before its turn.
 */
export class WarmIsolates {
  readonly #bySource = new Map<string, WarmIsolate>();
  readonly #budgetBytes: number;
  readonly #random: () => number;
  #bytes = 0;
  #evictions = 0;
  #collecting: WarmIsolate | undefined;

  /** @param random in [0, 1) */
  constructor(budgetBytes: number, random: () => number = Math.random) {
    this.#budgetBytes = budgetBytes;
    this.#random = random;
  }

  get size(): number {
    return this.#bySource.size;
  }

  /** How many went since the last call to make room for others. */
  takeEvictions(): number {
    const evictions = this.#evictions;
    this.#evictions = 0;
    return evictions;
  }

  /** The source's isolate, marked busy; one of another revision is dropped. */
  take(source: string, revision: string): WarmIsolate | undefined {
    const warm = this.#bySource.get(source);
    if (warm === undefined || warm.busy) return undefined;
    if (warm.revision !== revision) {
      this.#remove(warm);
      return undefined;
    }
    warm.busy = true;
    return warm;
  }

  /** Takes in a new, busy isolate; one that the source had before goes when it is done. */
  add(warm: WarmIsolate): void {
    const before = this.#bySource.get(warm.source);
    if (before !== undefined) this.#forget(before);
    this.#bySource.set(warm.source, warm);
  }

  /** Keeps a busy isolate after its run, or drops it when it has served its time. */
  keep(warm: WarmIsolate, bytes: number): void {
    if (!this.#isKnown(warm) || warm.guest.isSpent || warm.runs >= limits.runsPerIsolate) return this.drop(warm);
    warm.busy = false;
    warm.lastUsedAt = Date.now();
    warm.restingCpuMs = warm.guest.cpuMs();
    this.#measure(warm, bytes);
    this.#shrink();
  }

  drop(warm: WarmIsolate): void {
    if (this.#isKnown(warm)) this.#remove(warm);
    else warm.guest.dispose();
  }

  /** A busy one is dropped when it comes back. */
  evict(source: string): void {
    const warm = this.#bySource.get(source);
    if (warm === undefined) return;
    if (warm.busy) this.#forget(warm);
    else this.#remove(warm);
  }

  /** Drops those idle for too long, and those that compute although nothing runs. */
  sweep(): void {
    const idleSince = Date.now() - limits.idleMs;
    for (const warm of this.#bySource.values()) {
      if (!warm.busy && warm !== this.#collecting && (warm.lastUsedAt < idleSince || warm.guest.cpuMs() > warm.restingCpuMs + 100))
        this.#remove(warm);
    }
  }

  /**
   * Has one that is at rest give back what it does not need: V8 collects when a heap grows, and this one may not for hours. One at a time,
   * since it takes some 10 ms of a core.
   */
  async collectOne(): Promise<void> {
    const restingSince = Date.now() - limits.collectAfterMs;
    const isDue = (warm: WarmIsolate): boolean =>
      !warm.busy && !warm.isCollected && warm.lastUsedAt < restingSince && warm.bytes <= limits.collectedBytes;
    const warm = this.#collecting === undefined ? this.#bySource.values().find(isDue) : undefined;
    if (warm === undefined) return;
    this.#collecting = warm;
    warm.isCollected = true;
    try {
      await warm.guest.collectGarbage();
      const bytes = await warm.guest.heapBytes();
      if (this.#isKnown(warm)) this.#measure(warm, bytes);
    } catch {
      // It was disposed of meanwhile.
    } finally {
      warm.restingCpuMs = warm.guest.cpuMs();
      this.#collecting = undefined;
    }
  }

  #isKnown(warm: WarmIsolate): boolean {
    return this.#bySource.get(warm.source) === warm;
  }

  #measure(warm: WarmIsolate, bytes: number): void {
    this.#bytes += bytes - warm.bytes;
    warm.bytes = bytes;
  }

  #shrink(): void {
    if (this.#bytes <= this.#budgetBytes) return;
    const all = [...this.#bySource.values()];
    const start = Math.floor(this.#random() * all.length);
    for (const warm of [...all.slice(start), ...all.slice(0, start)]) {
      if (!warm.busy) {
        this.#remove(warm);
        this.#evictions += 1;
      }
      if (this.#bytes <= this.#budgetBytes) return;
    }
  }

  #remove(warm: WarmIsolate): void {
    this.#forget(warm);
    warm.guest.dispose();
  }

  #forget(warm: WarmIsolate): void {
    this.#bySource.delete(warm.source);
    this.#bytes -= warm.bytes;
  }
}
