import { TokenBucket } from "../../domain/token-bucket.ts";
import { silentQueue, type QueueMetrics } from "./metrics.ts";
import { ReadyKeys } from "./ready-keys.ts";

/**
 * Keys waiting to be reconciled. A key is worked on by one worker at a time; adding it meanwhile has it worked on once more.
 *
 * A key that fails waits 2^failures times the base delay, with jitter, up to the longest delay; a success forgets its failures.
 * All retries together pass a token bucket: when the API is away, ten thousand keys that fail do not hammer it. What changed
 * passes at once; what only has to be looked at again (a first list, a resync) comes after that, yet is never starved.
 */
export class WorkQueue {
  readonly #work: (key: string, signal: AbortSignal) => Promise<Verdict>;
  readonly #options: WorkQueueOptions;
  readonly #metrics: QueueMetrics;
  readonly #retries: TokenBucket;
  readonly #ready = new ReadyKeys();
  readonly #running = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #delayed = new Map<string, { readonly timer: NodeJS.Timeout; readonly at: number }>();
  readonly #stop = new AbortController();
  #idle: (() => void)[] = [];

  constructor(options: WorkQueueOptions, work: (key: string, signal: AbortSignal) => Promise<Verdict>) {
    this.#options = options;
    this.#work = work;
    this.#metrics = options.metrics ?? silentQueue;
    this.#retries = new TokenBucket(options.retries ?? { perSecond: 20, burst: 200 });
  }

  /** Keys ready to be worked on. */
  get depth(): number {
    return this.#ready.size;
  }

  /** Keys that wait for their time. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** Keys that failed the last time. */
  get failing(): number {
    return this.#failures.size;
  }

  /** Nothing ready, nothing under way; what is delayed may come. */
  get idle(): boolean {
    return this.#ready.size === 0 && this.#running.size === 0;
  }

  /** @param how `background` yields to what changed. */
  add(key: string, how: "changed" | "background" = "changed"): void {
    if (this.#stop.signal.aborted) return;
    this.#forgetDelay(key);
    if (this.#ready.add(key, how, performance.now())) this.#metrics.added();
    this.#dispatch();
  }

  /** The earlier of two delays of a key counts. */
  addAfter(key: string, delayMs: number): void {
    if (this.#stop.signal.aborted || this.#ready.has(key)) return;
    const waitMs = Math.max(0, Math.min(delayMs, longestTimerMs));
    const at = performance.now() + waitMs;
    const known = this.#delayed.get(key);
    if (known !== undefined && known.at <= at) return;
    this.#forgetDelay(key);
    this.#delayed.set(key, { at, timer: setTimeout(() => this.add(key), waitMs) });
  }

  /** Starts nothing new and waits for what runs; its signal tells it to hurry. */
  async stop(): Promise<void> {
    this.#stop.abort();
    for (const { timer } of this.#delayed.values()) clearTimeout(timer);
    this.#delayed.clear();
    this.#failures.clear();
    this.#ready.clear();
    this.#metrics.depth(0);
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #forgetDelay(key: string): void {
    clearTimeout(this.#delayed.get(key)?.timer);
    this.#delayed.delete(key);
  }

  #dispatch(): void {
    while (this.#running.size < this.#options.concurrency) {
      const next = this.#ready.take((key) => !this.#running.has(key));
      if (next === undefined) break;
      this.#metrics.waited((performance.now() - next.since) / 1_000);
      this.#running.add(next.key);
      void this.#run(next.key); // Never rejects.
    }
    this.#metrics.depth(this.#ready.size);
  }

  async #run(key: string): Promise<void> {
    const verdict = await this.#work(key, this.#stop.signal).catch((): Verdict => ({ outcome: "failed" }));
    this.#running.delete(key);
    if (!this.#stop.signal.aborted) this.#settle(key, verdict);
    if (this.#running.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
    this.#dispatch();
  }

  #settle(key: string, verdict: Verdict): void {
    if (verdict.outcome === "done") {
      this.#failures.delete(key);
      if (verdict.againAfterMs !== undefined) this.addAfter(key, verdict.againAfterMs);
      return;
    }
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.#metrics.retried();
    this.addAfter(key, Math.max(this.#delayAfter(failures), this.#retries.reserve(performance.now())));
  }

  #delayAfter(failures: number): number {
    const { baseDelayMs, longestDelayMs, random } = this.#options;
    return Math.min(longestDelayMs, baseDelayMs * 2 ** (failures - 1)) * (0.5 + random() / 2);
  }
}

/** Timers take no more (2^31 - 1 ms); who waits for longer is looked at early, which is harmless. */
const longestTimerMs = 2_147_483_647;

export interface WorkQueueOptions {
  readonly concurrency: number;
  readonly baseDelayMs: number;
  readonly longestDelayMs: number;
  /** All keys that failed, together; default 20 a second after the first 200. */
  readonly retries?: { readonly perSecond: number; readonly burst: number };
  /** In [0, 1). */
  readonly random: () => number;
  readonly metrics?: QueueMetrics;
}

export type Verdict = { readonly outcome: "done"; readonly againAfterMs?: number } | { readonly outcome: "failed" };
