import { once } from "node:events";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { backoffMs } from "../../domain/retry.ts";
import type { RunControl } from "../../domain/workflow/run-control.ts";
import type { Hold } from "../run/hold.ts";
import type { BacklogEntry } from "./backlog.ts";
import type { BlockReason, QueueCounts } from "./ports.ts";
import type { InvocationRunner, QueueOptions } from "./queue-options.ts";
import { ExtraPlaces } from "./extra-places.ts";
import { Scheduler } from "./scheduler.ts";
import { PartitionReleases } from "./partition-releases.ts";
import { isAwaited, isUrgent, queueKeyOf, SourceQueue, type QueuedInvocation } from "./source-queue.ts";
import { SpeculativeRuns } from "./speculative-runs.ts";

/** The owner of sources that were deleted. Their invocations are dropped in their turn. */
const noOwner = "";
const retryDelay = { firstMs: 250, maxMs: 10_000 };

/**
 * Runs the invocations of each source one at a time, when the scheduler says so: urgent ones first, then in order of arrival. A failed
 * invocation is retried before later ones of its source. A source has a queue only while it is not empty. Each run of a workflow has a queue
 * of its own.
 *
 * While a source is paused, or its new version starts, its queue is held: only urgent invocations run. Callers that wait for a run of a
 * paused source are refused.
 *
 *     push ──▶ arriving ── owner loaded ──▶ queued ── scheduler ──▶ running ──▶ finished
 *                                           │  ▲ ▲                    │ │
 *                        partition released │  │ └── retry, delayed ◀─┘ │ failed
 *                                           │  └──── held ◀─────────────┘ paused or starting
 *                                           ▼
 *                                       released: the next runner of the partition runs it
 */
export class SourceQueues {
  readonly #options: QueueOptions;
  readonly #scheduler: Scheduler;
  readonly #queues = new Map<string, SourceQueue>();
  #handle: InvocationRunner["handle"] | undefined;
  #speculative: SpeculativeRuns | undefined;
  #size = 0;
  /** For branches of runs. */
  readonly places: ExtraPlaces;
  readonly #releases = new PartitionReleases();
  #stopping = false;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#scheduler = new Scheduler(options);
    this.places = new ExtraPlaces(this.#scheduler, () => this.#startRuns());
    options.runLimits?.start((key) => {
      const queue = this.#queues.get(key);
      if (queue !== undefined) this.#advance(queue);
    });
  }

  /** Call this before the first `push`. */
  start({ handle, runSpeculatively }: InvocationRunner): void {
    this.#handle = handle;
    if (runSpeculatively !== undefined) this.#speculative = new SpeculativeRuns(runSpeculatively);
  }

  /** Number of queued and running invocations. */
  get size(): number {
    return this.#size;
  }

  counts(): QueueCounts {
    const { backlog } = this.#options;
    const scheduler = this.#scheduler;
    const rests = ({ owner = noOwner, hold }: SourceQueue): boolean => hold === "paused" || scheduler.blockedBy(owner) === "owner_quota";
    const resting = this.#queues.values().filter(rests);
    return {
      running: scheduler.running,
      waiting: resting.reduce((count, { blockable }) => count - blockable, this.#size - scheduler.running + this.places.size),
      heldBack: scheduler.heldBack(),
      blocked: { owner_quota: scheduler.blocked("owner_quota"), owner_commits: scheduler.blocked("owner_commits") },
      fullSources: backlog.fullSources,
      fullOwners: backlog.fullOwners,
    };
  }

  /** Keeps the owner's work queued, except urgent work. Refuses requests whose callers wait: a run hours later would come too late. */
  block(owner: string, reason: BlockReason): void {
    for (const queue of this.#queues.values()) {
      if (queue.owner !== owner) continue;
      this.#refuseWhere(isAwaited, queue, owner, "blocked");
      this.#updateReadiness(queue);
    }
    this.#scheduler.block(owner, reason);
    this.#startRuns();
  }

  unblock(owner: string): void {
    this.#scheduler.unblock(owner);
    this.#startRuns();
  }

  /** The deployment of this source may have changed; undefined: of any source. Held queues try again. */
  resume(source: string | undefined): void {
    const changed = source === undefined ? [...this.#queues.values()] : [this.#queues.get(source)];
    for (const queue of changed) {
      queue?.endHold();
      if (queue !== undefined) this.#updateReadiness(queue);
    }
    this.#startRuns();
  }

  push(entry: QueuedInvocation): void {
    if (this.#stopping) return entry.settle("released");
    const key = queueKeyOf(entry.received);
    const queue = this.#queues.get(key) ?? this.#open(key, entry.received);
    if (queue.owner === undefined) {
      this.#size++;
      queue.arriving.push(entry);
      return;
    }
    this.#enqueue(queue, queue.owner, entry);
    this.#advance(queue);
  }

  /** A run of the owner has cost this much, ms. */
  charge(owner: string, costMs: number): void {
    this.#scheduler.charge(owner, costMs);
  }

  /** The run of this queue waits for I/O. */
  waitsForIo(key: string): void {
    this.#scheduler.waitsForIo(key);
    this.#startRuns();
  }

  /** Releases all queued invocations, lets runs end until the signal aborts, then releases the rest. */
  async stop(signal: AbortSignal): Promise<void> {
    this.#stopping = true;
    await Promise.race([this.release(undefined), signal.aborted || once(signal, "abort")]);
    for (const queue of this.#queues.values()) queue.running?.settle("released");
  }

  /** Releases the queued invocations of a partition, or of all, to the next runner. Resolves when none of its sources runs here. */
  release(partition: number | undefined): Promise<void> {
    for (const queue of this.#queues.values()) {
      if (partition !== undefined && partitionOf(queue.source) !== partition) continue;
      this.#size -= queue.arriving.length;
      for (const entry of queue.arriving.splice(0)) entry.settle("released");
      for (const entry of queue.takeAll()) {
        this.#remove(entry, queue.owner ?? noOwner);
        entry.settle("released");
      }
      this.#updateReadiness(queue);
    }
    return this.#releases.add(partition, this.#queues);
  }

  /** Whether another runner waits for the source's partition. A failed invocation is then released instead of retried. */
  #isReleasing(source: string): boolean {
    return this.#stopping || this.#releases.includes(source);
  }

  #open(key: string, first: QueuedInvocation["received"]): SourceQueue {
    const queue = new SourceQueue(key, first.invocation);
    this.#queues.set(key, queue);
    if (key !== queue.source) this.#options.runLimits?.arrive(queue);
    const owner = this.#options.ownerOf(first);
    if (owner instanceof Promise) {
      // If the owner cannot be read now, running the invocation will fail and report why.
      owner.then(
        (loaded) => this.#setOwner(queue, loaded),
        () => this.#setOwner(queue, undefined),
      );
    } else queue.owner = owner ?? noOwner;
    return queue;
  }

  #setOwner(queue: SourceQueue, owner: string = noOwner): void {
    if (this.#stopping) return;
    queue.owner = owner;
    this.#size -= queue.arriving.length;
    for (const entry of queue.arriving.splice(0)) this.#enqueue(queue, owner, entry);
    this.#advance(queue);
  }

  /** The caller updates the queue's readiness afterwards. */
  #enqueue(queue: SourceQueue, owner: string, entry: QueuedInvocation): void {
    if (isAwaited(entry) && this.#scheduler.blockedBy(owner) !== undefined) return this.#refuse(entry, owner, "blocked");
    if (queue.hold === "paused" && this.#hasCaller(entry)) return this.#refuse(entry, owner, "paused");
    if (!queue.add(entry)) return entry.settle("finished");
    this.#size++;
    this.#options.backlog.add(this.#backlogEntry(entry, owner));
    if (queue.hold === "paused" && this.#options.backlog.isFull(queue.source, owner)) queue.endHold(); // The oldest work ends.
    if (isAwaited(entry)) this.#speculative?.consider(queue);
  }

  #refuse(entry: QueuedInvocation, owner: string, reason: "blocked" | "paused"): void {
    this.#options.refuse?.(entry.received.invocation, owner, reason);
    entry.settle("finished");
  }

  #refuseWhere(isRefused: (entry: QueuedInvocation) => boolean, queue: SourceQueue, owner: string, reason: "blocked" | "paused"): void {
    for (const entry of queue.takeWhere(isRefused)) {
      this.#remove(entry, owner);
      this.#refuse(entry, owner, reason);
    }
  }

  #remove(entry: QueuedInvocation, owner: string): void {
    this.#size--;
    this.#options.backlog.remove(this.#backlogEntry(entry, owner));
  }

  #advance(queue: SourceQueue): void {
    this.#updateReadiness(queue);
    this.#startRuns();
  }

  /** Marks the source as ready to run in the scheduler, or deletes its queue if it is empty. */
  #updateReadiness(queue: SourceQueue): void {
    const { key, owner } = queue;
    if (queue.running !== undefined || queue.arriving.length > 0) return;
    if (queue.length > 0) {
      const mayRun = queue.retry === undefined && (queue.hold === undefined || queue.hasUrgent) && this.#mayRun(queue);
      if (owner !== undefined && mayRun) this.#scheduler.ready(key, owner, queue.hasUrgent);
      return;
    }
    clearTimeout(queue.retry);
    queue.endHold();
    if (owner !== undefined) this.#scheduler.withdraw(key, owner);
    if (this.#queues.get(key) === queue) this.#queues.delete(key);
    if (queue.key !== queue.source) this.#options.runLimits?.leave(queue);
    this.#releases.resolve(this.#queues);
  }

  #backlogEntry({ received, bytes }: QueuedInvocation, owner: string): BacklogEntry {
    const { source } = received.invocation;
    return { source, owner, bytes, maxInvocations: this.#options.runLimits?.maxWaiting(source) };
  }

  #mayRun(queue: SourceQueue): boolean {
    return queue.key === queue.source || this.#options.runLimits === undefined || this.#options.runLimits.admits(queue);
  }

  #startRuns(): void {
    const handle = this.#handle;
    if (this.#stopping || handle === undefined) return;
    for (let start = this.#scheduler.next(); start !== undefined; start = this.#scheduler.next()) {
      if (this.places.grant(start.source)) continue;
      const queue = this.#queues.get(start.source);
      const entry = queue?.take(queue.hold !== undefined || this.#scheduler.blockedBy(start.owner) !== undefined);
      if (queue === undefined || entry === undefined) this.#scheduler.end(start.source);
      else void this.#run(queue, start.owner, entry, handle); // Never rejects, because `handle` never does.
    }
  }

  async #run(queue: SourceQueue, owner: string, entry: QueuedInvocation, handle: InvocationRunner["handle"]): Promise<void> {
    queue.running = entry;
    this.#options.backlog.remove(this.#backlogEntry(entry, owner));
    this.#speculative?.consider(queue);
    const { received, failures = 0 } = entry;
    const { holdsEnded } = queue;
    const speculative = this.#speculative?.take(entry);
    const isReleased = (): boolean => this.#isReleasing(queue.source);
    const hasRoom = (): boolean => !this.#options.backlog.isFull(queue.source, owner);
    const control = (): RunControl | undefined => queue.control();
    const isQueued = (history: string): boolean => this.#queues.has(history);
    const given = { speculative, isReleased, hasRoom, control, isQueued };
    const result = await handle({ ...received, ...queue.takeSkipped(), failures, ...given }, owner);
    queue.running = undefined;
    this.#scheduler.end(queue.key);
    if (result === "finished" || this.#isReleasing(queue.source)) {
      this.#size--;
      entry.settle(result === "finished" ? "finished" : "released");
    } else {
      queue.putBack(entry);
      this.#options.backlog.add(this.#backlogEntry(entry, owner));
      if (speculative !== undefined) this.#speculative?.putBack(entry, speculative);
      if (result === "retry") this.#retryLater(queue, entry);
      else if (queue.holdsEnded === holdsEnded) this.#hold(queue, owner, result); // Otherwise the source has changed since: try again.
    }
    if (isUrgent(entry)) queue.endHold(); // A hook may have completed what the queue waits for.
    this.#advance(queue);
  }

  /** Keeps the queue until its source changes or one of its hooks has run. */
  #hold(queue: SourceQueue, owner: string, reason: Hold): void {
    const lookAgain = (): void => this.resume(queue.key);
    queue.beginHold(reason, () => void (this.#options.reload?.(queue.source) ?? Promise.resolve()).then(lookAgain, lookAgain));
    if (reason === "paused") this.#refuseWhere((queued) => this.#hasCaller(queued), queue, owner, "paused");
  }

  /** Has the entry a caller who has no answer yet? */
  #hasCaller(entry: QueuedInvocation): boolean {
    return this.#options.hasCaller?.(entry.received) === true && this.#speculative?.hasRun(entry) !== true;
  }

  #retryLater(queue: SourceQueue, entry: QueuedInvocation): void {
    entry.failures = (entry.failures ?? 0) + 1;
    queue.retryAfter(backoffMs(entry.failures, retryDelay, Math.random()), () => this.#advance(queue));
  }
}
