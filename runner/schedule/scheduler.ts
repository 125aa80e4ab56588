import { Contention } from "../../domain/limits/contention.ts";
import { PriorityQueue } from "./priority-queue.ts";

export interface SchedulerLimits {
  /** Cores that runs compute on, one for each sandbox child. */
  readonly cores: number;
  readonly maxOwnerRuns: number;
  /** Runs under way at once, those that wait for I/O included. */
  readonly maxRuns: number;
}

export interface SchedulerOptions {
  readonly limits: SchedulerLimits;
  /** ms of a clock that never goes back. */
  readonly now: () => number;
  /** Above 0; an owner of weight 2 gets twice as much as one of weight 1. Absent: all owners weigh 1. */
  readonly weightOf?: (owner: string) => number;
}

/** The run that starts now. */
export interface Start {
  readonly source: string;
  readonly owner: string;
}

/** A child executes no more at once: further runs would wait there, out of the scheduler's control. */
const maxRunsOfChild = 200;
/** What the runs in flight of one owner may cost beside other owners, and those of all owners, ms per core. */
const inFlightMs = { owner: 16, total: 192 };
/** A trivial run occupies processes, the network and the disk for longer than it computes: in flight it counts this much, ms. */
const minExpectedMs = 4;
/** One long run must not make an owner's short ones look expensive for long, ms. */
const maxExpectedMs = 1_000;
/** What each run costs besides its CPU time, ms. */
const runCostMs = 1;
/** An owner never falls further behind the others, ms: an hour of computing is not followed by an hour of waiting. */
const maxDebtMs = 60_000;
/** Idle owners whose virtual time and expected cost are remembered. */
const maxIdleOwners = 10_000;

interface Owner {
  readonly id: string;
  /** Sources with an invocation to run, in the order in which they became ready. */
  readonly ready: Set<string>;
  /** Those of them whose next invocation is urgent. */
  readonly urgent: Set<string>;
  /** Only urgent work may start. */
  isBlocked: boolean;
  running: number;
  /** Runs in flight that are not known to wait for I/O. */
  computing: number;
  /** Moving average of what its runs cost, ms. */
  expectedMs: number;
  /** Measured cost so far divided by weight, ms; comparable between owners. */
  virtualTime: number;
  /** It computes, or has something that may start. */
  isBusy: boolean;
  /** The virtual time of its entry in the queue; undefined: it has none. */
  queuedAt: number | undefined;
}

interface Run {
  readonly owner: Owner;
  isComputing: boolean;
}

/**
 * Decides which source runs next (decision 0012). Pure: callers report what happens, and start the runs that `next` returns.
 *
 *     idle ── ready ──▶ ready ── next ──▶ computing ── waitsForIo ──▶ waiting for I/O
 *       ▲                                     └────────── end ◀──────────────┘
 *
 * - **Order**: the owner with the least virtual time; of its sources an urgent one, else the one that is ready for longest. A run advances
 *   its owner's virtual time by its measured cost. An owner that was idle starts at the current time: being idle earns nothing.
 * - **Concurrency**: beside other active owners, an owner's runs in flight may cost 16 ms per core by the average of its last runs. Half
 *   as many runs as there are cores, one at least, may always compute. An owner that is alone may use everything.
 * - A **blocked** owner keeps its work queued, except urgent work.
 */
export class Scheduler {
  readonly #limits: SchedulerLimits;
  readonly #now: () => number;
  readonly #weightOf: (owner: string) => number;
  readonly #owners = new Map<string, Owner>();
  /** Owners with something that may start, by virtual time. An owner whose virtual time advances gets another entry; the former is stale. */
  readonly #queue = new PriorityQueue<Owner>();
  readonly #runs = new Map<string, Run>();
  /** Owners that have as many runs under way as are still free: each run that ends makes room. */
  readonly #withoutRoom = new Set<Owner>();
  readonly #contention = new Contention();
  #busyOwners = 0;
  /** Virtual time of the last run that started. */
  #virtualNow = 0;

  constructor({ limits, now, weightOf = () => 1 }: SchedulerOptions) {
    this.#limits = limits;
    this.#now = now;
    this.#weightOf = weightOf;
  }

  get running(): number {
    return this.#runs.size;
  }

  isBlocked(owner: string): boolean {
    return this.#owners.get(owner)?.isBlocked === true;
  }

  block(id: string): void {
    const owner = this.#get(id);
    owner.isBlocked = true;
    this.#update(owner);
  }

  unblock(id: string): void {
    const owner = this.#owners.get(id);
    if (owner === undefined) return;
    owner.isBlocked = false;
    this.#update(owner);
  }

  /** The source, which does not run, has an invocation to run. */
  ready(source: string, ownerId: string, isUrgent = false): void {
    const owner = this.#get(ownerId);
    if (isIdle(owner)) owner.virtualTime = Math.max(owner.virtualTime, this.#virtualNow);
    owner.ready.add(source);
    if (isUrgent) owner.urgent.add(source);
    this.#contention.noteActive(ownerId, this.#now());
    this.#update(owner);
  }

  /** The source has nothing to run any more. */
  withdraw(source: string, ownerId: string): void {
    const owner = this.#owners.get(ownerId);
    if (owner === undefined) return;
    owner.ready.delete(source);
    owner.urgent.delete(source);
    this.#update(owner);
  }

  /** The source whose run starts now; undefined when none may. */
  next(): Start | undefined {
    while (this.#runs.size < this.#limits.maxRuns) {
      const entry = this.#queue.pop();
      if (entry === undefined) return undefined;
      const owner = entry.item;
      if (entry.rank !== owner.queuedAt) continue;
      owner.queuedAt = undefined;
      const source = nextSource(owner);
      if (source === undefined) continue;
      // Such an owner has a run that computes, and is queued again when that one ends or waits for I/O.
      if (owner.computing >= this.#maxComputing(owner)) continue;
      if (this.#hasRoom(owner)) return this.#start(owner, source);
      this.#withoutRoom.add(owner);
    }
    return undefined;
  }

  /** The run of this source neither computes nor waits to compute. */
  waitsForIo(source: string): void {
    const run = this.#runs.get(source);
    if (run !== undefined) this.#stopsComputing(run);
  }

  /** A run of the owner has cost this much, ms. */
  charge(ownerId: string, costMs: number): void {
    const owner = this.#owners.get(ownerId);
    if (owner === undefined) return;
    owner.expectedMs += (Math.min(costMs, maxExpectedMs) - owner.expectedMs) / 8;
    owner.virtualTime = Math.min(owner.virtualTime + costMs / this.#weightOf(ownerId), this.#virtualNow + maxDebtMs);
    this.#update(owner);
  }

  end(source: string): void {
    const run = this.#runs.get(source);
    if (run === undefined) return;
    const { owner } = run;
    this.#runs.delete(source);
    owner.running--;
    this.#contention.noteActive(owner.id, this.#now());
    this.#stopsComputing(run);
    this.#update(owner);
    this.#offerRoom();
    if (isIdle(owner)) this.#remember(owner);
  }

  /** Sources that wait only because of what else their owners run. */
  heldBack(): number {
    let count = 0;
    for (const owner of this.#owners.values())
      if (owner.computing >= this.#maxComputing(owner) || !this.#hasRoom(owner)) count += startable(owner).size;
    return count;
  }

  /** Sources that wait because their owners are blocked. */
  blocked(): number {
    let count = 0;
    for (const { isBlocked, ready, urgent } of this.#owners.values()) if (isBlocked) count += ready.size - urgent.size;
    return count;
  }

  #start(owner: Owner, source: string): Start {
    owner.ready.delete(source);
    owner.urgent.delete(source);
    owner.running++;
    owner.computing++;
    this.#runs.set(source, { owner, isComputing: true });
    this.#virtualNow = Math.max(this.#virtualNow, owner.virtualTime);
    owner.virtualTime += runCostMs / this.#weightOf(owner.id);
    this.#contention.noteActive(owner.id, this.#now());
    this.#update(owner);
    return { source, owner: owner.id };
  }

  /** How many runs of the owner may compute at once. */
  #maxComputing(owner: Owner): number {
    if (!this.#contention.hasOthers(owner.id, this.#now())) return Number.POSITIVE_INFINITY;
    const { cores } = this.#limits;
    const shareMs = cores * this.#weightOf(owner.id) * Math.min(inFlightMs.owner, inFlightMs.total / Math.max(1, this.#busyOwners));
    return Math.max(1, Math.floor(cores / 2), Math.floor(shareMs / Math.max(minExpectedMs, owner.expectedMs)));
  }

  /** An owner may have as many runs under way as are still free, so that there is always room for one that comes later. */
  #hasRoom({ running }: Owner): boolean {
    const { maxRuns, maxOwnerRuns } = this.#limits;
    return running === 0 || running < Math.min(maxOwnerRuns, maxRuns - this.#runs.size);
  }

  /** One run has ended: one more may start. */
  #offerRoom(): void {
    for (const owner of this.#withoutRoom) {
      if (!this.#hasRoom(owner)) continue;
      this.#withoutRoom.delete(owner);
      return this.#update(owner);
    }
  }

  #stopsComputing(run: Run): void {
    if (!run.isComputing) return;
    run.isComputing = false;
    run.owner.computing--;
    this.#update(run.owner);
  }

  /** To be called when anything of the owner has changed. */
  #update(owner: Owner): void {
    const mayStart = startable(owner).size > 0;
    if (mayStart && owner.queuedAt !== owner.virtualTime) {
      owner.queuedAt = owner.virtualTime;
      this.#queue.push(owner, owner.queuedAt);
    }
    const isBusy = mayStart || owner.computing > 0;
    if (isBusy === owner.isBusy) return;
    owner.isBusy = isBusy;
    this.#busyOwners += isBusy ? 1 : -1;
  }

  #get(id: string): Owner {
    const known = this.#owners.get(id);
    if (known !== undefined) return known;
    const owner: Owner = {
      id,
      ready: new Set(),
      urgent: new Set(),
      isBlocked: false,
      running: 0,
      computing: 0,
      // Until the first run tells what it costs, two may compute.
      expectedMs: (this.#limits.cores * inFlightMs.owner) / 2,
      virtualTime: this.#virtualNow,
      isBusy: false,
      queuedAt: undefined,
    };
    this.#owners.set(id, owner);
    return owner;
  }

  /** Keeps the owners that were active last. */
  #remember(owner: Owner): void {
    this.#owners.delete(owner.id);
    this.#owners.set(owner.id, owner);
    if (this.#owners.size <= maxIdleOwners) return;
    for (const other of this.#owners.values()) if (isIdle(other) && !other.isBlocked) return void this.#owners.delete(other.id);
  }
}

/** Limits of a runner with so many sandbox children. */
export function schedulerLimits(children: number, maxOwnerRuns: number): SchedulerLimits {
  return { cores: children, maxOwnerRuns, maxRuns: maxRunsOfChild * children };
}

const isIdle = ({ running, ready }: Owner): boolean => running === 0 && ready.size === 0;
/** Sources of the owner whose runs may start. */
const startable = ({ isBlocked, ready, urgent }: Owner): ReadonlySet<string> => (isBlocked ? urgent : ready);

function nextSource({ isBlocked, ready, urgent }: Owner): string | undefined {
  const [source] = isBlocked || urgent.size > 0 ? urgent : ready;
  return source;
}
