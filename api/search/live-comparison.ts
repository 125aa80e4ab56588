import type { RateEntry } from "../../domain/limits/shared-rate.ts";
import type { SteppedWork, Turns } from "../../domain/limits/turns.ts";
import type { SearchQuery } from "../../domain/search/query.ts";
import { costOf, costOfItem, costOfMatch, type LiveCommit, type Match } from "./live-commit.ts";

/** A step ends after the item that brings its cost to this value. */
const costOfStep = 65_536;

interface ComparisonPorts {
  readonly turns: Turns;
  readonly rate: RateEntry;
  readonly onMatch: (match: Match) => void;
  /** The rate is used up: the commit is not compared. */
  readonly onSkip: () => void;
}

/** Compares commits with the query of one live search, in their order, in steps. */
export class LiveComparison implements SteppedWork {
  readonly #query: SearchQuery;
  readonly #ports: ComparisonPorts;
  #waiting: LiveCommit[] = [];
  /** Item of the first commit that is compared next. Undefined: the commit is not paid for yet. */
  #next: number | undefined;

  constructor(query: SearchQuery, ports: ComparisonPorts) {
    this.#query = query;
    this.#ports = ports;
  }

  get hasMore(): boolean {
    return this.#waiting.length > 0;
  }

  add(commit: LiveCommit): void {
    this.#waiting.push(commit);
    this.#ports.turns.add(this);
  }

  step(): number {
    const [commit] = this.#waiting;
    if (commit === undefined) return 0;
    const wasDecoded = commit.isDecoded;
    if (this.#next === undefined && !pay(commit, this.#query, this.#ports.rate)) {
      this.#finish();
      this.#ports.onSkip();
      return costOfItem;
    }
    const cost = this.#compare(commit, this.#next ?? 0);
    return wasDecoded ? cost : cost + commit.bytes;
  }

  stop(): void {
    this.#waiting = [];
  }

  #compare(commit: LiveCommit, from: number): number {
    const { items } = commit;
    let cost = costOfItem;
    let index = from;
    for (; index < items.length && cost < costOfStep; index++) {
      const item = items[index];
      if (item !== undefined) cost += costOf(item, this.#query);
      const match = commit.match(index, this.#query);
      if (match === undefined) continue;
      cost += costOfMatch;
      this.#ports.rate.charge(costOfMatch);
      this.#ports.onMatch(match);
    }
    // A search that was stopped in the meantime has no commits.
    if (index < items.length) this.#next = index;
    else this.#finish();
    return cost;
  }

  #finish(): void {
    this.#waiting.shift();
    this.#next = undefined;
  }
}

/** Charges for reading the commit, and then for its items, whose cost is known once it is decoded. @returns false when the rate is used up */
export function pay(commit: LiveCommit, query: SearchQuery, rate: RateEntry): boolean {
  if (!rate.use(commit.bytes, performance.now())) return false;
  rate.charge(commit.costOf(query));
  return true;
}
