import type { RanAhead } from "./ran-ahead.ts";
import { isAwaited, isUrgent, type Waiting } from "./waiting.ts";

/** Undefined: it could not be, and is run when its turn comes. Never rejects. */
export type RunAhead = (received: Waiting["received"]) => Promise<RanAhead | undefined>;

interface Line {
  readonly running: Waiting | undefined;
  readonly waiting: readonly Waiting[];
}

/** Most runs that are no hooks end within that, and services that check an address wait longer. */
const patienceMs = 2_000;
/** Of those that wait behind one run. */
const mostAhead = 8;

/**
 * Requests whose callers wait for `respond()` are answered while something else of their source is under way that they may be needed for:
 * a service that is told an endpoint, by a hook or by a tick that renews what a hook made, asks that endpoint before it answers.
 *
 * What is run so keeps its place: its commit comes when its turn does, and then it is run again if what it remembered has changed.
 */
export class Ahead {
  readonly #runAhead: RunAhead | undefined;
  readonly #looked = new WeakSet<Waiting>();
  readonly #runs = new WeakMap<Waiting, Promise<RanAhead | undefined>>();

  constructor(runAhead: RunAhead | undefined) {
    this.#runAhead = runAhead;
  }

  /** Something waits, or runs, that did not before. Behind another request nobody is taken first: its turn comes as soon. */
  look(line: Line): void {
    const { running, waiting } = line;
    if (this.#runAhead === undefined || running === undefined || isAwaited(running)) return;
    for (const entry of waiting.filter(isAwaited).slice(0, mostAhead)) {
      if (isUrgent(running)) this.#begin(entry);
      else if (!this.#looked.has(entry)) setTimeout(() => this.#lookAgain(line, entry), patienceMs).unref();
      this.#looked.add(entry);
    }
  }

  /** What was run of it, once. */
  take(entry: Waiting): Promise<RanAhead | undefined> | undefined {
    const run = this.#runs.get(entry);
    this.#runs.delete(entry);
    return run;
  }

  #lookAgain({ running, waiting }: Line, entry: Waiting): void {
    if (running !== undefined && !isAwaited(running) && waiting.includes(entry)) this.#begin(entry);
  }

  #begin(entry: Waiting): void {
    if (!this.#runs.has(entry)) this.#runs.set(entry, this.#runAhead?.(entry.received) ?? Promise.resolve(undefined));
  }
}
