import { Contention } from "./contention.ts";

export interface SemaphoreLimits {
  readonly permits: number;
  readonly permitsPerKey: number;
  /** Permits of a key while no other key is active. Absent: as many as beside others. */
  readonly alone?: { readonly permits: number; readonly now: () => number };
}

interface Key {
  taken: number;
  readonly waiting: Set<() => void>;
}

/**
 * Bounds concurrency in total and per key, such as an owner. Waiting keys are served in turn; within a key, first come, first served.
 * A key that is alone may hold more permits: once another key comes, the permits that it holds are all that the other waits for.
 */
export class FairSemaphore {
  readonly #limits: SemaphoreLimits;
  readonly #contention = new Contention();
  /** Keys that hold or wait for permits. A key that was granted or released one moves to the end. */
  readonly #keys = new Map<string, Key>();
  #taken = 0;

  constructor(limits: SemaphoreLimits) {
    this.#limits = limits;
  }

  get taken(): number {
    return this.#taken;
  }

  takenBy(key: string): number {
    return this.#keys.get(key)?.taken ?? 0;
  }

  /** Callers of the key that wait. */
  waitingFor(key: string): number {
    return this.#keys.get(key)?.waiting.size ?? 0;
  }

  /** Takes a permit if one is free now. */
  tryAcquire(id: string): boolean {
    const now = this.#limits.alone?.now() ?? 0;
    this.#contention.noteActive(id, now);
    const key = this.#keys.get(id) ?? { taken: 0, waiting: new Set() };
    if (key.waiting.size > 0 || !this.#mayTake(id, key, now)) return false;
    this.#grant(id, key);
    return true;
  }

  /**
   * Takes a permit, or waits for one.
   *
   * @returns undefined when a permit was free, so that the common case costs no turn of the event loop
   * @throws the signal's reason when it aborts before a permit is granted
   */
  acquire(id: string, signal?: AbortSignal): Promise<void> | undefined {
    signal?.throwIfAborted();
    if (this.tryAcquire(id)) return undefined;
    const key = this.#keys.get(id) ?? { taken: 0, waiting: new Set() };
    this.#keys.set(id, key);
    const granted = new Promise<void>((resolve, reject) => {
      const grant = (): void => {
        signal?.removeEventListener("abort", abort);
        resolve();
      };
      const abort = (): void => {
        key.waiting.delete(grant);
        this.#forget(id, key);
        reject(signal?.reason as Error);
      };
      key.waiting.add(grant);
      signal?.addEventListener("abort", abort, { once: true });
    });
    this.#serve();
    return granted;
  }

  release(id: string): void {
    const key = this.#keys.get(id);
    if (key === undefined || key.taken === 0) return;
    key.taken--;
    this.#taken--;
    this.#keys.delete(id);
    this.#keys.set(id, key);
    this.#forget(id, key);
    this.#serve();
  }

  /** Runs the task while holding a permit. @throws the signal's reason when it aborts before the task begins */
  async use<Result>(id: string, task: () => Promise<Result> | Result, signal?: AbortSignal): Promise<Result> {
    await this.acquire(id, signal);
    try {
      signal?.throwIfAborted();
      return await task();
    } finally {
      this.release(id);
    }
  }

  /** Usually grants one permit; several when a key may hold more than before because it is alone now. */
  #serve(): void {
    const now = this.#limits.alone?.now() ?? 0;
    for (let next = this.#next(now); next !== undefined; next = this.#next(now)) {
      const { id, key, grant } = next;
      key.waiting.delete(grant);
      this.#grant(id, key);
      grant();
    }
  }

  #next(now: number): { readonly id: string; readonly key: Key; readonly grant: () => void } | undefined {
    if (this.#taken >= this.#limits.permits) return undefined;
    for (const [id, key] of this.#keys) {
      const [grant] = key.waiting;
      if (grant !== undefined && this.#mayTake(id, key, now)) return { id, key, grant };
    }
    return undefined;
  }

  #mayTake(id: string, { taken }: Key, now: number): boolean {
    const { permits, permitsPerKey, alone } = this.#limits;
    if (this.#taken >= permits) return false;
    return taken < (alone === undefined || this.#contention.hasOthers(id, now) ? permitsPerKey : alone.permits);
  }

  #grant(id: string, key: Key): void {
    key.taken++;
    this.#taken++;
    this.#keys.delete(id);
    this.#keys.set(id, key);
  }

  #forget(id: string, key: Key): void {
    if (key.taken === 0 && key.waiting.size === 0) this.#keys.delete(id);
  }
}
