import { Contention } from "./contention.ts";

export interface SemaphoreLimits {
  /** Absent: as many as the keys have. */
  readonly permits?: number;
  /** A function for keys that differ. It may return another number at another time; a larger one counts from the next release on. */
  readonly permitsPerKey: number | ((key: string) => number);
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
  readonly #permits: number;
  readonly #permitsPerKey: (key: string) => number;
  readonly #alone: SemaphoreLimits["alone"];
  readonly #contention = new Contention();
  /** Keys that hold or wait for permits. A key that was granted or released one moves to the end. */
  readonly #keys = new Map<string, Key>();
  #taken = 0;
  #whenIdle: (() => void)[] = [];

  constructor({ permits = Number.POSITIVE_INFINITY, permitsPerKey, alone }: SemaphoreLimits) {
    this.#permits = permits;
    this.#permitsPerKey = typeof permitsPerKey === "number" ? () => permitsPerKey : permitsPerKey;
    this.#alone = alone;
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
    const now = this.#alone?.now() ?? 0;
    if (this.#alone !== undefined) this.#contention.noteActive(id, now);
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
        this.#notifyIfIdle();
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
    // Other keys wait for this permit only if there was no other, or if they are alone now.
    const onlyFor = this.#taken < this.#permits && this.#alone === undefined ? id : undefined;
    key.taken--;
    this.#taken--;
    this.#keys.delete(id);
    this.#keys.set(id, key);
    this.#forget(id, key);
    this.#serve(onlyFor);
    this.#notifyIfIdle();
  }

  /** Runs the task while holding a permit. @throws the signal's reason when it aborts before the task begins */
  async use<Result>(id: string, task: () => Promise<Result> | Result, signal?: AbortSignal): Promise<Result> {
    const granted = this.acquire(id, signal);
    if (granted !== undefined) await granted;
    try {
      signal?.throwIfAborted();
      return await task();
    } finally {
      this.release(id);
    }
  }

  /** Resolves when no permit is held and no caller waits. */
  whenIdle(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.#notifyIfIdle();
    });
  }

  /** Usually grants one permit; several when a key may hold more than before because it is alone now. */
  #serve(onlyFor?: string): void {
    const now = this.#alone?.now() ?? 0;
    for (let next = this.#next(now, onlyFor); next !== undefined; next = this.#next(now, onlyFor)) {
      const { id, key, grant } = next;
      key.waiting.delete(grant);
      this.#grant(id, key);
      grant();
    }
  }

  #next(now: number, onlyFor?: string): { readonly id: string; readonly key: Key; readonly grant: () => void } | undefined {
    if (this.#taken >= this.#permits) return undefined;
    const only = onlyFor === undefined ? undefined : this.#keys.get(onlyFor);
    const keys: Iterable<readonly [string, Key]> = onlyFor === undefined ? this.#keys : only === undefined ? [] : [[onlyFor, only]];
    for (const [id, key] of keys) {
      const [grant] = key.waiting;
      if (grant !== undefined && this.#mayTake(id, key, now)) return { id, key, grant };
    }
    return undefined;
  }

  #mayTake(id: string, { taken }: Key, now: number): boolean {
    if (this.#taken >= this.#permits) return false;
    const isAlone = this.#alone !== undefined && !this.#contention.hasOthers(id, now);
    return taken < (isAlone ? this.#alone.permits : this.#permitsPerKey(id));
  }

  #grant(id: string, key: Key): void {
    key.taken++;
    this.#taken++;
    this.#keys.delete(id);
    this.#keys.set(id, key);
  }

  #notifyIfIdle(): void {
    if (this.#keys.size === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #forget(id: string, key: Key): void {
    if (key.taken === 0 && key.waiting.size === 0) this.#keys.delete(id);
  }
}
