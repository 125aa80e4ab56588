import { Contention } from "../../domain/limits/contention.ts";
import type { BlockReason } from "./ports.ts";
import { PriorityQueue } from "./priority-queue.ts";

export interface SchedulerLimits {
  /** Cores for runs, one for each sandbox child. */
  readonly cores: number;
  readonly maxOwnerRuns: number;
  /** Of all owners, including runs that wait for I/O. */
  readonly maxRuns: number;
}

export interface SchedulerOptions {
  readonly limits: SchedulerLimits;
  /** Monotonic time, ms. */
  readonly now: () => number;
  /** Above 0. An owner of weight 2 gets twice the share of one of weight 1. Absent: all owners have weight 1. */
  readonly weightOf?: (owner: string) => number;
}

/** A run to start now. */
export interface Start {
  readonly source: string;
  readonly owner: string;
}

/** More concurrent runs than this would queue in the child, outside the scheduler's control. */
const maxRunsPerChild = 200;
/** Maximum expected cost of the runs in flight, ms per core: of one owner beside other owners, and of all owners. */
const inFlightMs = { owner: 16, total: 192 };
/** Minimum expected cost of a run. A trivial run occupies processes, network and disk for longer than it computes. */
const minExpectedMs = 4;
/** Maximum cost of one run in the moving average, so that one long run does not make short ones look expensive for long. */
const maxExpectedMs = 1_000;
/** Cost of each run in addition to its CPU time. */
const runCostMs = 1;
/** Maximum virtual time that an owner is behind: an hour of computing is not followed by an hour of waiting. */
const maxDebtMs = 60_000;
/** Maximum idle owners whose virtual time and expected cost are kept. */
const maxIdleOwners = 10_000;

interface Owner {
  readonly id: string;
  /** Sources with a queued invocation, in the order in which they became ready. */
  readonly ready: Set<string>;
  /** The ready sources whose next invocation is urgent. */
  readonly urgent: Set<string>;
  /** Why only urgent work may start. */
  blockedBy: BlockReason | undefined;
  running: number;
  /** Running sources that do not wait for I/O, as far as is known. */
  computing: number;
  /** Moving average of the cost of its runs, ms. */
  expectedMs: number;
  /** Measured cost so far, divided by weight, ms. */
  virtualTime: number;
  /** Whether a run of it computes or may start. */
  isBusy: boolean;
  /** Virtual time of its valid entry in the queue, if any. */
  queuedAt: number | undefined;
}

interface Run {
  readonly owner: Owner;
  isComputing: boolean;
}

/**
 * Decides which source runs next (decision 0012). It has no I/O and no timers: callers report what happens and start the runs that `next`
 * returns. The states of a source:
 *
 *     idle ── ready ──▶ ready ── next ──▶ computing ── waitsForIo ──▶ waiting for I/O
 *       ▲                                     └────────── end ◀──────────────┘
 *
 * - **Order**: the owner with the least virtual time runs next, first its urgent sources, then the source that has been ready longest. A
 *   run advances its owner's virtual time by its measured cost. An idle owner starts at the current virtual time: idleness earns nothing.
 * - **Concurrency**: beside other active owners, the expected cost of an owner's runs in flight is at most 16 ms per core. Half as many
 *   runs as there are cores, at least one, may always compute. An owner that is alone may use everything.
 * - A **blocked** owner's work stays queued, except urgent work.
 */
export class Scheduler {
  readonly #limits: SchedulerLimits;
  readonly #now: () => number;
  readonly #weightOf: (owner: string) => number;
  readonly #owners = new Map<string, Owner>();
  /** Owners with a run that may start, by virtual time. When an owner's virtual time advances it gets another entry, and the old one is stale. */
  readonly #queue = new PriorityQueue<Owner>();
  readonly #runs = new Map<string, Run>();
  /** Owners at their maximum number of runs. Each run that ends makes room for one of them. */
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

  blockedBy(owner: string): BlockReason | undefined {
    return this.#owners.get(owner)?.blockedBy;
  }

  block(id: string, reason: BlockReason): void {
    const owner = this.#get(id);
    owner.blockedBy = reason;
    this.#update(owner);
  }

  unblock(id: string): void {
    const owner = this.#owners.get(id);
    if (owner === undefined) return;
    owner.blockedBy = undefined;
    this.#update(owner);
  }

  /** The source does not run and has a queued invocation. */
  ready(source: string, ownerId: string, isUrgent = false): void {
    const owner = this.#get(ownerId);
    if (isIdle(owner)) owner.virtualTime = Math.max(owner.virtualTime, this.#virtualNow);
    owner.ready.add(source);
    if (isUrgent) owner.urgent.add(source);
    this.#contention.noteActive(ownerId, this.#now());
    this.#update(owner);
  }

  /** The queue of the source is empty. */
  withdraw(source: string, ownerId: string): void {
    const owner = this.#owners.get(ownerId);
    if (owner === undefined) return;
    owner.ready.delete(source);
    owner.urgent.delete(source);
    this.#update(owner);
  }

  /** The next run to start; undefined if none may start. */
  next(): Start | undefined {
    while (this.#runs.size < this.#limits.maxRuns) {
      const entry = this.#queue.pop();
      if (entry === undefined) return undefined;
      const owner = entry.item;
      if (entry.rank !== owner.queuedAt) continue;
      owner.queuedAt = undefined;
      const source = nextSource(owner);
      if (source === undefined) continue;
      // The owner is queued again when one of its computing runs ends or waits for I/O.
      if (owner.computing >= this.#maxComputing(owner)) continue;
      if (this.#hasRoom(owner)) return this.#start(owner, source);
      this.#withoutRoom.add(owner);
    }
    return undefined;
  }

  /** The run of this source waits for I/O: it neither computes nor waits for a core. */
  waitsForIo(source: string): void {
    const run = this.#runs.get(source);
    if (run !== undefined) this.#stopComputing(run);
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
    this.#stopComputing(run);
    this.#update(owner);
    this.#offerRoom();
    if (isIdle(owner)) this.#keepIdle(owner);
  }

  /** Number of sources that wait only because of their owner's other runs. */
  heldBack(): number {
    let count = 0;
    for (const owner of this.#owners.values())
      if (owner.computing >= this.#maxComputing(owner) || !this.#hasRoom(owner)) count += startable(owner).size;
    return count;
  }

  /** Number of sources that wait because their owner is blocked for this reason. */
  blocked(reason: BlockReason): number {
    let count = 0;
    for (const { blockedBy, ready, urgent } of this.#owners.values()) if (blockedBy === reason) count += ready.size - urgent.size;
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

  /** An owner may have at most as many runs as are still free, so that there is always room for another owner. */
  #hasRoom({ running }: Owner): boolean {
    const { maxRuns, maxOwnerRuns } = this.#limits;
    return running === 0 || running < Math.min(maxOwnerRuns, maxRuns - this.#runs.size);
  }

  /** A run has ended, so that one more may start. */
  #offerRoom(): void {
    for (const owner of this.#withoutRoom) {
      if (!this.#hasRoom(owner)) continue;
      this.#withoutRoom.delete(owner);
      return this.#update(owner);
    }
  }

  #stopComputing(run: Run): void {
    if (!run.isComputing) return;
    run.isComputing = false;
    run.owner.computing--;
    this.#update(run.owner);
  }

  /** Call this after each change of the owner. */
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
      blockedBy: undefined,
      running: 0,
      computing: 0,
      // Until the cost of the first run is known, two runs may compute.
      expectedMs: (this.#limits.cores * inFlightMs.owner) / 2,
      virtualTime: this.#virtualNow,
      isBusy: false,
      queuedAt: undefined,
    };
    this.#owners.set(id, owner);
    return owner;
  }

  /** Moves an idle owner to the end of the map, and evicts the one that has been idle longest if there are too many. */
  #keepIdle(owner: Owner): void {
    this.#owners.delete(owner.id);
    this.#owners.set(owner.id, owner);
    if (this.#owners.size <= maxIdleOwners) return;
    for (const each of this.#owners.values()) if (isIdle(each) && each.blockedBy === undefined) return void this.#owners.delete(each.id);
  }
}

/** Limits of a runner with this many sandbox children. */
export function schedulerLimits(children: number, maxOwnerRuns: number): SchedulerLimits {
  return { cores: children, maxOwnerRuns, maxRuns: maxRunsPerChild * children };
}

const isIdle = ({ running, ready }: Owner): boolean => running === 0 && ready.size === 0;
/** Sources of the owner whose runs may start. */
const startable = ({ blockedBy, ready, urgent }: Owner): ReadonlySet<string> => (blockedBy === undefined ? ready : urgent);

function nextSource({ blockedBy, ready, urgent }: Owner): string | undefined {
  const [source] = blockedBy !== undefined || urgent.size > 0 ? urgent : ready;
  return source;
}
