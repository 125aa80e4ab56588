import { LazyHeap } from "./lazy-heap.ts";
import { Neighbours } from "./sandbox/neighbours.ts";

/**
 * How many runs at once. A run is fresh until it has lasted a moment, and present until it is known to wait for somebody else: what is
 * present is what a neighbour's next run waits for.
 */
export interface RunLimits {
  readonly runs: number;
  readonly ownerRuns: number;
  readonly freshRuns: number;
  /** Of an owner while another owner is active. */
  readonly ownerPresentRuns: number;
  /** What those may cost together by what the owner's last runs cost, ms. */
  readonly ownerPresentMs: number;
  /** So many are present whatever they cost. */
  readonly ownerCostlyRuns: number;
}

export interface Turn {
  readonly source: string;
  readonly owner: string;
}

/** What each run costs besides the time it computes, ms. */
const runCostMs = 1;
/** More than this behind the others nobody falls, ms: whoever computed for an hour does not wait for an hour. */
const mostDebtMs = 60_000;
/** Owners at rest of whom it is remembered what they were given, and what their runs cost. */
const mostRemembered = 10_000;
/** A run counts for no more, ms: after a single one that computed for long, an owner's short ones are soon known as such again. */
const mostExpectedMs = 1_000;

interface Run {
  readonly owner: Owner;
  isFresh: boolean;
  isPresent: boolean;
}

interface Owner {
  readonly id: string;
  /** Sources with something to run, in order. */
  readonly ready: Set<string>;
  /** Those of them whose next run is held up by no quota. */
  readonly urgent: Set<string>;
  running: number;
  present: number;
  /** What one of its runs is expected to cost, ms. */
  expectedMs: number;
  /** What it was given so far, ms by its weight; comparable between owners. */
  served: number;
}

/**
 * Whose turn it is: of the owners that have something to run and are within their limits, the one that was given least, and of its
 * sources the one that waits longest. Pure: it is told what happens and when, and says which source may run.
 *
 * A source is idle → ready (`wait`) → running (`next`) → idle (`end`); so it runs once at a time. One whose owner is parked stays ready
 * until its owner is not (`unpark`). An owner that was idle begins where
 * the others are: rest earns nothing, and what it was given beyond its share before is remembered.
 */
export class FairOrder {
  readonly #limits: RunLimits;
  readonly #weightOf: (owner: string) => number;
  readonly #owners = new Map<string, Owner>();
  /** Owners with a source that may run; the least served first. */
  readonly #heap = new LazyHeap<Owner>();
  /** Of these nothing runs but what is urgent. */
  readonly #parked = new Set<string>();
  readonly #running = new Map<string, Run>();
  #fresh = 0;
  /** How much those were given who had their turn last. */
  #now = 0;
  readonly #neighbours = new Neighbours();

  /** @param weightOf above 0; an owner of weight 2 gets twice as much as one of weight 1 */
  constructor(limits: RunLimits, weightOf: (owner: string) => number = () => 1) {
    this.#limits = limits;
    this.#weightOf = weightOf;
  }

  get running(): number {
    return this.#running.size;
  }

  isParked(owner: string): boolean {
    return this.#parked.has(owner);
  }

  /** From now on what the owner has to run only waits, but for what is urgent. */
  park(owner: string): void {
    this.#parked.add(owner);
  }

  unpark(owner: string): void {
    this.#parked.delete(owner);
    const waiting = this.#owners.get(owner);
    if (waiting !== undefined) this.#offer(waiting);
  }

  /** The source, which does not run, has something to run. */
  wait(source: string, owner: string, now: number, isUrgent = false): void {
    const waiting = this.#owners.get(owner) ?? this.#add(owner);
    if (isIdle(waiting)) waiting.served = Math.max(waiting.served, this.#now);
    waiting.ready.add(source);
    if (isUrgent) waiting.urgent.add(source);
    this.#neighbours.sawActive(owner, now);
    this.#offer(waiting);
  }

  /** It does not want to run any more. */
  leave(source: string, owner: string): void {
    const leaving = this.#owners.get(owner);
    leaving?.ready.delete(source);
    leaving?.urgent.delete(source);
    if (leaving !== undefined && leaving.ready.size === 0) this.#heap.remove(leaving);
  }

  /** The source that runs from now on; undefined when none may. */
  next(now: number): Turn | undefined {
    if (this.#running.size >= this.#limits.runs || this.#fresh >= this.#limits.freshRuns) return undefined;
    for (let owner = this.#heap.takeLeast(); owner !== undefined; owner = this.#heap.takeLeast()) {
      // Not offered again before one of its runs ends, pauses or is charged: only then can that change.
      if (!this.#mayRun(owner, now)) continue;
      const [source] = this.#mayChoose(owner);
      if (source !== undefined) return this.#start(owner, source, now);
    }
    return undefined;
  }

  /** The run of this source has lasted for long: it is no more of those that are over in a moment. */
  grow(source: string): void {
    const run = this.#running.get(source);
    if (run !== undefined) this.#age(run);
  }

  /** The run of this source waits for somebody else: it stands in nobody's way. */
  pause(source: string): void {
    const run = this.#running.get(source);
    if (run !== undefined) this.#absent(run);
  }

  /** Besides its mere number, a run of the owner has cost so much, ms. */
  charge(owner: string, costMs: number): void {
    const charged = this.#owners.get(owner);
    if (charged === undefined) return;
    charged.expectedMs = expected(charged.expectedMs, costMs);
    charged.served = Math.min(charged.served + costMs / this.#weightOf(owner), this.#now + mostDebtMs);
    this.#offer(charged);
  }

  end(source: string, now: number): void {
    const run = this.#running.get(source);
    if (run === undefined) return;
    this.#absent(run);
    this.#running.delete(source);
    run.owner.running--;
    this.#neighbours.sawActive(run.owner.id, now);
    this.#offer(run.owner);
    if (isIdle(run.owner)) this.#rest(run.owner);
  }

  /** Sources that wait only because of what else their owners run. */
  heldBack(now: number): number {
    let sum = 0;
    for (const owner of this.#owners.values()) if (!this.#mayRun(owner, now)) sum += this.#mayChoose(owner).size;
    return sum;
  }

  /** Sources that wait because their owners are parked. */
  parked(): number {
    let sum = 0;
    for (const id of this.#parked) {
      const owner = this.#owners.get(id);
      if (owner !== undefined) sum += owner.ready.size - owner.urgent.size;
    }
    return sum;
  }

  #mayChoose(owner: Owner): ReadonlySet<string> {
    return this.#parked.has(owner.id) ? owner.urgent : owner.ready;
  }

  #start(owner: Owner, source: string, now: number): Turn {
    owner.ready.delete(source);
    owner.urgent.delete(source);
    owner.running++;
    owner.present++;
    this.#fresh++;
    this.#running.set(source, { owner, isFresh: true, isPresent: true });
    this.#now = Math.max(this.#now, owner.served);
    owner.served += runCostMs / this.#weightOf(owner.id);
    this.#neighbours.sawActive(owner.id, now);
    this.#offer(owner);
    return { source, owner: owner.id };
  }

  #mayRun(owner: Owner, now: number): boolean {
    if (owner.running >= this.#limits.ownerRuns) return false;
    return owner.present < presentRuns(owner.expectedMs, this.#limits) * this.#weightOf(owner.id) || !this.#neighbours.has(owner.id, now);
  }

  #age(run: Run): void {
    if (!run.isFresh) return;
    run.isFresh = false;
    this.#fresh--;
  }

  #absent(run: Run): void {
    this.#age(run);
    if (!run.isPresent) return;
    run.isPresent = false;
    run.owner.present--;
    this.#offer(run.owner);
  }

  #offer(owner: Owner): void {
    if (this.#mayChoose(owner).size > 0) this.#heap.put(owner, owner.served);
  }

  #add(id: string): Owner {
    const owner = {
      id,
      ready: new Set<string>(),
      urgent: new Set<string>(),
      running: 0,
      present: 0,
      expectedMs: unknownMs(this.#limits),
      served: this.#now,
    };
    this.#owners.set(id, owner);
    return owner;
  }

  #rest(owner: Owner): void {
    this.#owners.delete(owner.id);
    this.#owners.set(owner.id, owner); // Last in the order of the map.
    if (this.#owners.size <= mostRemembered) return;
    for (const other of this.#owners.values()) if (isIdle(other)) return void this.#owners.delete(other.id);
  }
}

/** One of those that compute for long is enough to tell; one that a collection of garbage fell upon must not be. */
function expected(beforeMs: number, costMs: number): number {
  return beforeMs + (Math.min(costMs, mostExpectedMs) - beforeMs) / 8;
}

/** Of whose runs nothing is known yet, two begin: all that began together is under way before the first of them tells what it costs. */
const unknownMs = ({ ownerPresentMs }: RunLimits): number => Math.max(0, ownerPresentMs / 2 - runCostMs);

/** How many runs of an owner may be present at once beside others. */
function presentRuns(expectedMs: number, { ownerPresentRuns, ownerPresentMs, ownerCostlyRuns }: RunLimits): number {
  const affordable = Math.floor(ownerPresentMs / (runCostMs + expectedMs));
  return Math.min(ownerPresentRuns, Math.max(ownerCostlyRuns, affordable));
}

const isIdle = (owner: Owner): boolean => owner.running === 0 && owner.ready.size === 0;
