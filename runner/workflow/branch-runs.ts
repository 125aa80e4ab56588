import { Invariant } from "../../domain/errors.ts";
import type { Attempted } from "./next-commit.ts";
import type { AskedPlace, Places } from "../run/places.ts";

/** What an execution needs to compute beside others. */
interface Place {
  /** Key of its queue in the scheduler. */
  readonly queue: string;
  leave(): void;
}

/** An execution in a branch that has ended, or could not be started. */
export type EndedExecution = { readonly branch: number } & ({ readonly attempted: Attempted } | { readonly error: unknown });

interface Waiting {
  readonly branch: number;
  readonly asked: AskedPlace;
  readonly begin: (place: Place) => void;
}

/**
 * The executions of a run's branches: as many at a time as the scheduler gives places to. One of them has the place of the run itself, so that
 * the run goes on in any case.
 *
 *     start ── the place of the run, or another ──▶ executed ──▶ ended ── next ──▶ committed
 *       └──── waiting for one ── withdrawn
 */
export class BranchRuns {
  readonly #queue: string;
  readonly #owner: string;
  readonly #places: Places;
  /** Those that wait for a place, are executed, or have ended and were neither returned by `next` nor committed. */
  readonly #started = new Set<number>();
  readonly #waiting: Waiting[] = [];
  readonly #executed = new Set<Promise<void>>();
  readonly #ended: EndedExecution[] = [];
  #withdrawing = new AbortController();
  #hasOwnPlace = true;
  /** Others have ended together with the last one, or nothing else was under way. */
  #gathers = true;
  #notify: (() => void) | undefined;

  /** @param queue key of the run's queue */
  constructor(queue: string, owner: string, places: Places) {
    this.#queue = queue;
    this.#owner = owner;
    this.#places = places;
  }

  get size(): number {
    return this.#started.size;
  }

  has(branch: number): boolean {
    return this.#started.has(branch);
  }

  /** Numbers of the branches. */
  get started(): readonly number[] {
    return [...this.#started];
  }

  /**
   * Those that have ended and were not returned by `next`, in their order, up to one that could not be started or must not be followed by
   * another attempt.
   */
  get alsoEnded(): readonly Attempted[] {
    const attempted = this.#ended.map((ended) => ("attempted" in ended && !ended.attempted.isRefused ? ended.attempted : undefined));
    const stop = attempted.indexOf(undefined);
    return attempted.slice(0, stop < 0 ? undefined : stop).filter((each) => each !== undefined);
  }

  /** The first of `alsoEnded` are committed. */
  committed(count: number): void {
    for (const { branch } of this.#ended.splice(0, count)) this.#started.delete(branch);
  }

  /** @param execute `withdrawn`: aborts when it must not begin any more; it rejects then with the reason, if it has not begun */
  start(branch: number, execute: (queue: string, withdrawn: AbortSignal) => Promise<Attempted>): void {
    this.#started.add(branch);
    const { signal } = this.#withdrawing;
    const begin = (place: Place): void => {
      const executed = this.#execute(branch, place, (queue) => execute(queue, signal), signal).finally(() =>
        this.#executed.delete(executed),
      ); // Never rejects.
      this.#executed.add(executed);
    };
    if (this.#hasOwnPlace) {
      this.#hasOwnPlace = false;
      begin(this.#own());
    } else this.#wait(branch, begin);
  }

  /** The next execution that has ended; undefined if there is none at this time. @param until epoch ms; absent: waits for one */
  async next(until: number | undefined, now: () => number): Promise<EndedExecution | undefined> {
    if (this.#started.size === 0) throw new Invariant("there is no execution to wait for");
    if (this.#ended.length === 0) await this.#somethingEnds(until === undefined ? undefined : Math.max(0, until - now()));
    const ended = this.#ended.shift();
    if (ended !== undefined) this.#started.delete(ended.branch);
    return ended;
  }

  /**
   * Waits until `maxOthers` have ended beside the one that `next` has returned, or all, or for `maxMs`. After a wait in vain, not again until some
   * have ended together: beside a slow branch, each of many short steps would wait.
   */
  async gather(maxOthers: number, maxMs: number): Promise<void> {
    if (this.#gathers && maxMs > 0) await this.#waitForOthers(maxOthers, maxMs);
    this.#gathers = this.#ended.length > 0 || this.#started.size === 0;
  }

  async #waitForOthers(maxOthers: number, maxMs: number): Promise<void> {
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      this.#notify?.();
    }, maxMs);
    while (!isOver && this.#ended.length < maxOthers && this.#ended.length < this.#started.size) await this.#somethingEnds(undefined);
    clearTimeout(timer);
  }

  /** Nothing that has not begun begins any more. */
  withdraw(): void {
    this.#withdrawing.abort();
    this.#withdrawing = new AbortController();
    for (const { branch, asked } of this.#waiting.splice(0)) {
      asked.leave();
      this.#started.delete(branch);
    }
  }

  /** The run is left: what is executed ends, and does not count. */
  async abandon(): Promise<void> {
    this.withdraw();
    await Promise.all(this.#executed);
  }

  async #execute(branch: number, place: Place, execute: (queue: string) => Promise<Attempted>, withdrawn: AbortSignal): Promise<void> {
    try {
      this.#ended.push({ branch, attempted: await execute(place.queue) });
    } catch (error) {
      if (withdrawn.aborted && error === withdrawn.reason) this.#started.delete(branch);
      else this.#ended.push({ branch, error });
    } finally {
      place.leave();
      this.#notify?.();
    }
  }

  #wait(branch: number, begin: (place: Place) => void): void {
    const asked = this.#places.ask(this.#queue, this.#owner);
    const waiting: Waiting = { branch, asked, begin };
    this.#waiting.push(waiting);
    void asked.granted.then(() => {
      const index = this.#waiting.indexOf(waiting);
      if (index < 0) return;
      this.#waiting.splice(index, 1);
      begin({ queue: asked.queue, leave: asked.leave });
    });
  }

  #own(): Place {
    const leave = (): void => {
      const next = this.#waiting.shift();
      if (next === undefined) {
        this.#hasOwnPlace = true;
        return;
      }
      next.asked.leave();
      next.begin(this.#own());
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
