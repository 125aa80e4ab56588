import type { Invocation } from "../../domain/invocation/invocation.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { backoffMs } from "../../domain/retry.ts";
import type { InvocationResult } from "../run/handle-invocation.ts";
import type { ReceivedInvocation } from "../run/received.ts";
import type { Backlog, BacklogEntry } from "./backlog.ts";
import type { BlockReason, QueueCounts } from "./ports.ts";
import { Scheduler, type SchedulerOptions } from "./scheduler.ts";
import type { RunLimits } from "./run-limits.ts";
import { isAwaited, queueKeyOf, SourceQueue, type QueuedInvocation } from "./source-queue.ts";
import { SpeculativeRuns, type RunSpeculatively } from "./speculative-runs.ts";

export interface QueueOptions extends SchedulerOptions {
  /** Counts the invocations that are queued here. */
  readonly backlog: Backlog;
  /** The owner of the source; undefined if the source was deleted. Synchronous if it is cached. */
  readonly ownerOf: (received: QueuedInvocation["received"]) => string | undefined | Promise<string | undefined>;
  /** Limits of workflows; absent: none has any. */
  readonly runLimits?: RunLimits;
  /** Answers the caller of a request that does not run because its owner is blocked. */
  readonly refuse?: (invocation: Invocation, owner: string) => void;
}

/** How invocations run. */
export interface InvocationRunner {
  /** Never rejects. @param owner empty if the source was deleted */
  readonly handle: (received: ReceivedInvocation, owner: string) => Promise<InvocationResult>;
  /** Absent: no invocation runs before its turn. */
  readonly runSpeculatively?: RunSpeculatively;
}

/** The owner of sources that were deleted. Their invocations are dropped in their turn. */
const noOwner = "";
const retryDelay = { firstMs: 250, maxMs: 10_000 };

/**
 * Runs the invocations of each source one at a time, when the scheduler says so: urgent ones first, then in order of arrival. A failed
 * invocation is retried before later ones of its source. A source has a queue only while it is not empty. Each run of a workflow has a queue
 * of its own.
 *
 *     push ──▶ arriving ── owner loaded ──▶ queued ── scheduler ──▶ running ──▶ finished
 *                                           │  ▲                      │
 *                        partition released │  └──── retry, delayed ◀─┘ failed
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
  /** Each resolves when no source of its partition has a queue; without a partition, when no source has one. */
  #releases: { readonly partition: number | undefined; readonly resolve: () => void }[] = [];
  #stopping = false;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#scheduler = new Scheduler(options);
    options.runLimits?.start((key) => {
      const queue = this.#queues.get(key);
      if (queue === undefined) return;
      this.#updateReadiness(queue);
      this.#startRuns();
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
    const isOverQuota = ({ owner = noOwner }: SourceQueue): boolean => scheduler.blockedBy(owner) === "owner_quota";
    const overQuota = this.#queues.values().filter(isOverQuota);
    return {
      running: scheduler.running,
      waiting: overQuota.reduce((count, { blockable }) => count - blockable, this.#size - scheduler.running),
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
      for (const entry of queue.takeAwaited()) {
        this.#remove(entry, owner);
        this.#refuse(entry, owner);
      }
      this.#updateReadiness(queue);
    }
    this.#scheduler.block(owner, reason);
    this.#startRuns();
  }

  unblock(owner: string): void {
    this.#scheduler.unblock(owner);
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
    this.#updateReadiness(queue);
    this.#startRuns();
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

  /** Releases the queued invocations of a partition to the next runner. Resolves when no source of the partition runs here. */
  release(partition: number): Promise<void> {
    return this.#release(partition);
  }

  /** Releases all queued invocations, lets runs end until the signal aborts, then releases the rest. */
  async stop(signal: AbortSignal): Promise<void> {
    this.#stopping = true;
    const aborted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    });
    await Promise.race([this.#release(undefined), aborted]);
    for (const queue of this.#queues.values()) queue.running?.settle("released");
  }

  #release(partition: number | undefined): Promise<void> {
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
    return new Promise((resolve) => {
      this.#releases.push({ partition, resolve });
      this.#resolveReleases();
    });
  }

  /** Whether another runner waits for the source's partition. A failed invocation is then released instead of retried. */
  #isReleasing(source: string): boolean {
    return this.#stopping || this.#releases.some(({ partition }) => partition === undefined || partition === partitionOf(source));
  }

  #resolveReleases(): void {
    this.#releases = this.#releases.filter(({ partition, resolve }) => {
      const isEmpty =
        partition === undefined ? this.#queues.size === 0 : !this.#queues.keys().some((source) => partitionOf(source) === partition);
      if (isEmpty) resolve();
      return !isEmpty;
    });
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
    this.#updateReadiness(queue);
    this.#startRuns();
  }

  /** The caller updates the queue's readiness afterwards. */
  #enqueue(queue: SourceQueue, owner: string, entry: QueuedInvocation): void {
    if (isAwaited(entry) && this.#scheduler.blockedBy(owner) !== undefined) return this.#refuse(entry, owner);
    if (!queue.add(entry)) return entry.settle("finished");
    this.#size++;
    this.#options.backlog.add(this.#backlogEntry(entry, owner));
    if (isAwaited(entry)) this.#speculative?.consider(queue);
  }

  #refuse(entry: QueuedInvocation, owner: string): void {
    this.#options.refuse?.(entry.received.invocation, owner);
    entry.settle("finished");
  }

  #remove(entry: QueuedInvocation, owner: string): void {
    this.#size--;
    this.#options.backlog.remove(this.#backlogEntry(entry, owner));
  }

  /** Marks the source as ready to run in the scheduler, or deletes its queue if it is empty. */
  #updateReadiness(queue: SourceQueue): void {
    const { key, owner } = queue;
    if (queue.running !== undefined || queue.arriving.length > 0) return;
    if (queue.length > 0) {
      if (owner !== undefined && queue.retry === undefined && this.#mayRun(queue)) this.#scheduler.ready(key, owner, queue.hasUrgent);
      return;
    }
    clearTimeout(queue.retry);
    if (owner !== undefined) this.#scheduler.withdraw(key, owner);
    if (this.#queues.get(key) === queue) this.#queues.delete(key);
    if (queue.key !== queue.source) this.#options.runLimits?.leave(queue);
    if (this.#releases.length > 0) this.#resolveReleases();
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
      const queue = this.#queues.get(start.source);
      const entry = queue?.take(this.#scheduler.blockedBy(start.owner) !== undefined);
      if (queue === undefined || entry === undefined) this.#scheduler.end(start.source);
      else void this.#run(queue, start.owner, entry, handle); // Never rejects, because `handle` never does.
    }
  }

  async #run(queue: SourceQueue, owner: string, entry: QueuedInvocation, handle: InvocationRunner["handle"]): Promise<void> {
    queue.running = entry;
    this.#options.backlog.remove(this.#backlogEntry(entry, owner));
    this.#speculative?.consider(queue);
    const { received, failures = 0 } = entry;
    const speculative = this.#speculative?.take(entry);
    const isReleased = (): boolean => this.#isReleasing(queue.source);
    const result = await handle({ ...received, ...queue.takeSkipped(), failures, speculative, isReleased }, owner);
    queue.running = undefined;
    this.#scheduler.end(queue.key);
    if (result === "retry" && !this.#isReleasing(queue.source)) this.#retryLater(queue, owner, entry);
    else {
      this.#size--;
      entry.settle(result === "retry" ? "released" : "finished");
    }
    this.#updateReadiness(queue);
    this.#startRuns();
  }

  #retryLater(queue: SourceQueue, owner: string, entry: QueuedInvocation): void {
    queue.putBack(entry);
    this.#options.backlog.add(this.#backlogEntry(entry, owner));
    const { failures = 0 } = entry;
    entry.failures = failures + 1;
    queue.retry = setTimeout(
      () => {
        queue.retry = undefined;
        this.#updateReadiness(queue);
        this.#startRuns();
      },
      backoffMs(failures + 1, retryDelay, Math.random()),
    );
  }
}
