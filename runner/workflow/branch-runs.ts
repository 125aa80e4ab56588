import { Invariant } from "../../domain/errors.ts";
import type { Attempted } from "./next-commit.ts";
import type { Places } from "../run/places.ts";

/** What an execution needs to compute beside others. */
interface Place {
  /** Key of its queue in the scheduler. */
  readonly queue: string;
  leave(): void;
}

/** An execution in a branch that has ended, or could not be started. */
export type EndedExecution = { readonly branch: number } & ({ readonly attempted: Attempted } | { readonly error: unknown });

/**
 * The executions of a run's branches: as many at a time as the scheduler gives places to. One of them has the place of the run itself, so that
 * the run goes on in any case.
 *
 *     start ── the place of the run, or another ──▶ under way ──▶ ended ── next ──▶ committed
 */
export class BranchRuns {
  readonly #queue: string;
  readonly #owner: string;
  readonly #places: Places;
  readonly #underWay = new Set<number>();
  readonly #ended: EndedExecution[] = [];
  readonly #waiting: ((place: Place) => void)[] = [];
  #hasOwnPlace = true;
  #asked = 0;
  #notify: (() => void) | undefined;

  /** @param queue key of the run's queue */
  constructor(queue: string, owner: string, places: Places) {
    this.#queue = queue;
    this.#owner = owner;
    this.#places = places;
  }

  /** Those that have not ended, and those that have and were not returned by `next`. */
  get size(): number {
    return this.#underWay.size;
  }

  has(branch: number): boolean {
    return this.#underWay.has(branch);
  }

  /** Numbers of the branches. */
  get underWay(): readonly number[] {
    return [...this.#underWay];
  }

  start(branch: number, execute: (queue: string) => Promise<Attempted>): void {
    this.#underWay.add(branch);
    void this.#execute(branch, execute); // Never rejects.
  }

  /** The next execution that has ended; undefined if there is none at this time. @param until epoch ms; absent: waits for one */
  async next(until: number | undefined, now: () => number): Promise<EndedExecution | undefined> {
    if (this.#underWay.size === 0) throw new Invariant("there is no execution to wait for");
    if (this.#ended.length === 0) await this.#somethingEnds(until === undefined ? undefined : Math.max(0, until - now()));
    const ended = this.#ended.shift();
    if (ended !== undefined) this.#underWay.delete(ended.branch);
    return ended;
  }

  async #execute(branch: number, execute: (queue: string) => Promise<Attempted>): Promise<void> {
    const place = await this.#place();
    try {
      this.#ended.push({ branch, attempted: await execute(place.queue) });
    } catch (error) {
      this.#ended.push({ branch, error });
    } finally {
      place.leave();
      this.#notify?.();
    }
  }

  #place(): Promise<Place> {
    if (this.#hasOwnPlace) {
      this.#hasOwnPlace = false;
      return Promise.resolve(this.#own());
    }
    return new Promise((resolve) => {
      const queue = `${this.#queue}#${++this.#asked}`;
      const asked = this.#places.ask(queue, this.#owner);
      const takeOwn = (place: Place): void => {
        asked.leave();
        resolve(place);
      };
      this.#waiting.push(takeOwn);
      void asked.granted.then(() => {
        const index = this.#waiting.indexOf(takeOwn);
        if (index < 0) return;
        this.#waiting.splice(index, 1);
        resolve({ queue, leave: asked.leave });
      });
    });
  }

  #own(): Place {
    const leave = (): void => {
      const next = this.#waiting.shift();
      if (next === undefined) this.#hasOwnPlace = true;
      else next(this.#own());
    };
    return { queue: this.#queue, leave };
  }

  #somethingEnds(ms: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, Math.min(ms, maxTimerMs));
      this.#notify = () => {
        clearTimeout(timer);
        this.#notify = undefined;
        resolve();
      };
    });
  }
}

/** The longest time of a timer. What is due later is looked at again. */
const maxTimerMs = 2_147_483_647;
