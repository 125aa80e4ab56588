import { TokenBucket } from "../../domain/limits/token-bucket.ts";
import { backoffMs } from "../../domain/retry.ts";
import { noQueueMetrics, type QueueMetrics } from "./metrics.ts";
import { ReadyKeys } from "./ready-keys.ts";

/**
 * Keys waiting to be reconciled. A key has one pass at a time; a key added during its pass runs once more.
 *
 * A failing key waits 2^failures times the base delay, with jitter, up to the maximum delay; a success resets it. All retries share a token
 * bucket, so that ten thousand failing keys do not overload an API that is down. Changes run first; background keys (a first list, a
 * resync) run after them and are never starved.
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
    this.#metrics = options.metrics ?? noQueueMetrics;
    this.#retries = new TokenBucket(options.retries ?? { perSecond: 20, burst: 200 });
  }

  /** Keys ready to run. */
  get depth(): number {
    return this.#ready.size;
  }

  /** Keys with a pending delay. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** Keys whose last pass failed. */
  get failing(): number {
    return this.#failures.size;
  }

  /** True when nothing is ready or running. Delayed keys may still follow. */
  get idle(): boolean {
    return this.#ready.size === 0 && this.#running.size === 0;
  }

  /** @param priority `background` keys yield to changed ones */
  add(key: string, priority: "changed" | "background" = "changed"): void {
    if (this.#stop.signal.aborted) return;
    this.#forgetDelay(key);
    if (this.#ready.add(key, priority, performance.now())) this.#metrics.added();
    this.#dispatch();
  }

  /** The earlier of two delays of a key applies. */
  addAfter(key: string, delayMs: number): void {
    if (this.#stop.signal.aborted || this.#ready.has(key)) return;
    const waitMs = Math.max(0, Math.min(delayMs, maxTimerMs));
    const at = performance.now() + waitMs;
    const known = this.#delayed.get(key);
    if (known !== undefined && known.at <= at) return;
    this.#forgetDelay(key);
    this.#delayed.set(key, { at, timer: setTimeout(() => this.add(key), waitMs) });
  }

  /** Starts no new passes, aborts the signal of running ones and waits for them. */
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
      void this.#run(next.key); // #run never rejects.
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
      if (verdict.requeueAfterMs !== undefined) this.addAfter(key, verdict.requeueAfterMs);
      return;
    }
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.#metrics.retried();
    this.addAfter(key, Math.max(this.#delayAfter(failures), this.#retries.reserve(performance.now())));
  }

  #delayAfter(failures: number): number {
    const { baseDelayMs, maxDelayMs, random } = this.#options;
    return backoffMs(failures, { firstMs: baseDelayMs, maxMs: maxDelayMs }, random());
  }
}

/** Limit of setTimeout. Longer waits end early, which is harmless. */
const maxTimerMs = 2_147_483_647;

export interface WorkQueueOptions {
  readonly concurrency: number;
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  /** Retries of all keys together. Default: 20 per second after a burst of 200. */
  readonly retries?: { readonly perSecond: number; readonly burst: number };
  /** In [0, 1). */
  readonly random: () => number;
  readonly metrics?: QueueMetrics;
}

export type Verdict = { readonly outcome: "done"; readonly requeueAfterMs?: number } | { readonly outcome: "failed" };
