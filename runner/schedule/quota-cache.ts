import type { Clock } from "../../domain/clock.ts";
import { OwnerValueCache } from "./owner-value-cache.ts";
import type { QuotaStore } from "./ports.ts";

/**
 * Caches which owners have used up their daily quota. If the store is unreachable, an owner counts as within quota: usage is counted
 * elsewhere, and a quota must never block work by mistake.
 */
export class QuotaCache {
  readonly #clock: Clock;
  readonly #onChange: (owner: string, blockedUntilMs: number | undefined) => void;
  /** Epoch ms until which the owner's quota is, or was, used up; 0: neither. */
  readonly #until: OwnerValueCache<number>;
  /** Owners over quota. The timer reads the quota again when the period ends. */
  readonly #over = new Map<string, { readonly untilMs: number; readonly timer: NodeJS.Timeout }>();

  /** @param onChange called with the end of the block in epoch ms, and with undefined when the block has ended */
  constructor(store: QuotaStore, clock: Clock, onChange: (owner: string, blockedUntilMs: number | undefined) => void) {
    this.#clock = clock;
    this.#onChange = onChange;
    this.#until = new OwnerValueCache({
      read: (owner) => store.blockedUntil(owner),
      subscribe: (changed) => store.onChange(changed),
      defaultValue: 0,
      clock,
      onRead: (owner, untilMs) => this.#update(owner, untilMs),
    });
  }

  start(): Promise<void> {
    return this.#until.start();
  }

  async stop(): Promise<void> {
    for (const { timer } of this.#over.values()) clearTimeout(timer);
    await this.#until.stop();
  }

  /** Epoch ms; 0 for owners within quota. */
  blockedUntil(owner: string): number {
    return this.#over.get(owner)?.untilMs ?? 0;
  }

  /** Whether the owner's quota was used up at some time after `storedAtMs`, and no longer is. Held-back work runs late on purpose. */
  hasHeldBack(owner: string, storedAtMs: number): boolean {
    const untilMs = this.#until.isCached(owner) ? this.#until.get(owner) : 0;
    return storedAtMs < untilMs && untilMs <= this.#clock.now();
  }

  /** Returns the owner once its quota is cached. Synchronous when it already is, because every invocation passes here. */
  whenLoaded(owner: string | undefined | Promise<string | undefined>): string | undefined | Promise<string | undefined> {
    if (owner instanceof Promise) return owner.then((found) => this.whenLoaded(found));
    if (owner === undefined) return owner;
    if (!this.#until.isCached(owner)) return this.#until.reload(owner).then(() => owner);
    this.#until.get(owner); // Reloads an old value.
    return owner;
  }

  #update(owner: string, untilMs: number): void {
    const before = this.#over.get(owner);
    const leftMs = untilMs - this.#clock.now();
    clearTimeout(before?.timer);
    if (leftMs > 0) this.#over.set(owner, { untilMs, timer: setTimeout(() => void this.#until.reload(owner), leftMs).unref() }); // Never rejects.
    else this.#over.delete(owner);
    if (leftMs > 0 ? before?.untilMs !== untilMs : before !== undefined) this.#onChange(owner, leftMs > 0 ? untilMs : undefined);
  }
}
