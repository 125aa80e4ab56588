import type { AskedPlace, Places } from "../run/places.ts";
import type { Scheduler } from "./scheduler.ts";

/** Places beside those of queues, in the same order as those of other queues and owners. */
export class ExtraPlaces implements Places {
  readonly #scheduler: Scheduler;
  readonly #startRuns: () => void;
  readonly #asked = new Map<string, () => void>();
  readonly #granted = new Set<string>();
  /** Makes each key another one. */
  #count = 0;

  /** @param startRuns lets the scheduler say what starts next */
  constructor(scheduler: Scheduler, startRuns: () => void) {
    this.#scheduler = scheduler;
    this.#startRuns = startRuns;
  }

  /** Number of those that are in use. */
  get size(): number {
    return this.#granted.size;
  }

  ask(queue: string, owner: string): AskedPlace {
    const key = `${queue}#${++this.#count}`;
    const { promise: granted, resolve } = Promise.withResolvers<void>();
    this.#asked.set(key, resolve);
    this.#scheduler.ready(key, owner);
    this.#startRuns();
    const leave = (): void => {
      if (this.#asked.delete(key)) this.#scheduler.withdraw(key, owner);
      else if (this.#granted.delete(key)) this.#scheduler.end(key);
      this.#startRuns();
    };
    return { queue: key, granted, leave };
  }

  /** The scheduler lets this key start. @returns whether it is a place */
  grant(key: string): boolean {
    const resolve = this.#asked.get(key);
    if (resolve === undefined) return false;
    this.#asked.delete(key);
    this.#granted.add(key);
    resolve();
    return true;
  }
}
