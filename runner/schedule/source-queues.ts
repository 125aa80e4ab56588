import type { Invocation } from "../../domain/invocation/invocation.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { backoffMs } from "../../domain/retry.ts";
import type { Backlog, Queued } from "./backlog.ts";
import type { QueueCounts } from "../ports.ts";
import type { Received } from "../run/run.ts";
import { Scheduler, type SchedulerOptions } from "./scheduler.ts";
import { SourceQueue } from "./source-queue.ts";
import { SpeculativeRuns, type RunSpeculatively } from "./speculative-runs.ts";
import { isAwaited, type Answer, type Waiting } from "./disposition.ts";

export interface QueueOptions extends SchedulerOptions {
  /** Counts what waits here. */
  readonly backlog: Backlog;
  /** The owner of the source; undefined when the source is gone. Not a promise if it is known already. */
  readonly ownerOf: (received: Waiting["received"]) => string | undefined | Promise<string | undefined>;
  /** Turns errors into `failed`; never rejects. */
  readonly answer: (received: Received) => Promise<Answer>;
  /** Absent: nothing runs before its turn. */
  readonly runSpeculatively?: RunSpeculatively;
  /** Answers the caller of a request that does not run because its owner is blocked. */
  readonly refuse?: (invocation: Invocation, owner: string) => void;
}

/** Stands for the owner of sources that are gone: their invocations are dropped when their turn comes. */
const noOwner = "";
/** After how long a failed invocation runs again, by how often it has failed. */
const retryDelay = { firstMs: 250, maxMs: 10_000 };

/**
 * Runs the invocations of each source one at a time, urgent ones first, then in order of arrival, when the scheduler says so.
 * A failed invocation is tried again before those that wait behind it. A source has a queue only while something is in it.
 */
export class SourceQueues {
  readonly #options: QueueOptions;
  readonly #scheduler: Scheduler;
  readonly #speculative: SpeculativeRuns;
  readonly #queues = new Map<string, SourceQueue>();
  #size = 0;
  /** Each is resolved when no source of the partition has a queue; undefined: no source at all. */
  #releases: { readonly partition: number | undefined; readonly resolve: () => void }[] = [];
  #stopping = false;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#scheduler = new Scheduler(options);
    this.#speculative = new SpeculativeRuns(options.runSpeculatively ?? (() => Promise.resolve(undefined)));
  }

  /** Invocations waiting or running. */
  get size(): number {
    return this.#size;
  }

  counts(): QueueCounts {
    const { backlog } = this.#options;
    const { running } = this.#scheduler;
    return {
      running,
      waiting: this.#size - running,
      heldBack: this.#scheduler.heldBack(),
      overQuota: this.#scheduler.blocked(),
      fullSources: backlog.fullSources,
      fullOwners: backlog.fullOwners,
    };
  }

  /** The owner's work waits, except urgent work. Requests whose callers wait are refused: a run hours later would answer nobody. */
  block(owner: string): void {
    for (const queue of this.#queues.values()) {
      if (queue.owner !== owner) continue;
      for (const entry of queue.takeAwaited()) {
        this.#remove(entry, owner);
        this.#refuse(entry, owner);
      }
      this.#offerOrClose(queue);
    }
    this.#scheduler.block(owner);
    this.#startRuns();
  }

  unblock(owner: string): void {
    this.#scheduler.unblock(owner);
    this.#startRuns();
  }

  push(entry: Waiting): void {
    if (this.#stopping) return entry.settle("left");
    const { source } = entry.received.invocation;
    const queue = this.#queues.get(source) ?? this.#open(source, entry.received);
    if (queue.owner === undefined) {
      this.#size++;
      queue.arriving.push(entry);
      return;
    }
    this.#admit(queue, queue.owner, entry);
    this.#offerOrClose(queue);
    this.#startRuns();
  }

  /** A run of the owner has cost this much, ms. */
  charge(owner: string, costMs: number): void {
    this.#scheduler.charge(owner, costMs);
  }

  /** The run of this source waits for I/O. */
  waitsForIo(source: string): void {
    this.#scheduler.waitsForIo(source);
    this.#startRuns();
  }

  /** Leaves what waits of the partition's sources to the next runner; resolves when none of them runs here. */
  release(partition: number): Promise<void> {
    return this.#leave(partition);
  }

  /** Leaves everything that waits, lets runs end until the signal aborts, then leaves these too. */
  async stop(signal: AbortSignal): Promise<void> {
    this.#stopping = true;
    const aborted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    });
    await Promise.race([this.#leave(undefined), aborted]);
    for (const queue of this.#queues.values()) queue.running?.settle("left");
  }

  #leave(partition: number | undefined): Promise<void> {
    for (const queue of this.#queues.values()) {
      if (partition !== undefined && partitionOf(queue.source) !== partition) continue;
      this.#size -= queue.arriving.length;
      for (const entry of queue.arriving.splice(0)) entry.settle("left");
      for (const entry of queue.takeAll()) {
        this.#remove(entry, queue.owner ?? noOwner);
        entry.settle("left");
      }
      this.#offerOrClose(queue);
    }
    return new Promise((resolve) => {
      this.#releases.push({ partition, resolve });
      this.#resolveReleases();
    });
  }

  /** Another runner waits for the source's partition: what fails is left to it. */
  #isReleased(source: string): boolean {
    return this.#stopping || this.#releases.some(({ partition }) => partition === undefined || partition === partitionOf(source));
  }

  #resolveReleases(): void {
    this.#releases = this.#releases.filter(({ partition, resolve }) => {
      const isOver =
        partition === undefined ? this.#queues.size === 0 : !this.#queues.keys().some((source) => partitionOf(source) === partition);
      if (isOver) resolve();
      return !isOver;
    });
  }

  #open(source: string, first: Waiting["received"]): SourceQueue {
    const queue = new SourceQueue(source);
    this.#queues.set(source, queue);
    const owner = this.#options.ownerOf(first);
    if (owner instanceof Promise) {
      // When it cannot be read now, answering will report why.
      owner.then(
        (known) => this.#own(queue, known),
        () => this.#own(queue, undefined),
      );
    } else queue.owner = owner ?? noOwner;
    return queue;
  }

  /** The owner is known: what has arrived until now is queued. */
  #own(queue: SourceQueue, owner: string = noOwner): void {
    if (this.#stopping) return;
    queue.owner = owner;
    this.#size -= queue.arriving.length;
    for (const entry of queue.arriving.splice(0)) this.#admit(queue, owner, entry);
    this.#offerOrClose(queue);
    this.#startRuns();
  }

  /** The caller offers or closes the queue then. */
  #admit(queue: SourceQueue, owner: string, entry: Waiting): void {
    if (isAwaited(entry) && this.#scheduler.isBlocked(owner)) return this.#refuse(entry, owner);
    if (!queue.add(entry)) return entry.settle("done");
    this.#size++;
    this.#options.backlog.add(queuedOf(entry, owner));
    if (isAwaited(entry)) this.#speculative.consider(queue);
  }

  #refuse(entry: Waiting, owner: string): void {
    this.#options.refuse?.(entry.received.invocation, owner);
    entry.settle("done");
  }

  #remove(entry: Waiting, owner: string): void {
    this.#size--;
    this.#options.backlog.remove(queuedOf(entry, owner));
  }

  /** Has the scheduler start its next run; forgets it when nothing is in it. */
  #offerOrClose(queue: SourceQueue): void {
    const { source, owner } = queue;
    if (queue.running !== undefined || queue.arriving.length > 0) return;
    if (queue.length > 0) {
      if (owner !== undefined && queue.retry === undefined) this.#scheduler.ready(source, owner, queue.hasUrgent);
      return;
    }
    clearTimeout(queue.retry);
    if (owner !== undefined) this.#scheduler.withdraw(source, owner);
    if (this.#queues.get(source) === queue) this.#queues.delete(source);
    if (this.#releases.length > 0) this.#resolveReleases();
  }

  #startRuns(): void {
    if (this.#stopping) return;
    for (let start = this.#scheduler.next(); start !== undefined; start = this.#scheduler.next()) {
      const queue = this.#queues.get(start.source);
      const entry = queue?.take(this.#scheduler.isBlocked(start.owner));
      if (queue === undefined || entry === undefined) this.#scheduler.end(start.source);
      else void this.#run(queue, start.owner, entry); // Never rejects: `answer` turns errors into answers.
    }
  }

  async #run(queue: SourceQueue, owner: string, entry: Waiting): Promise<void> {
    queue.running = entry;
    this.#options.backlog.remove(queuedOf(entry, owner));
    this.#speculative.consider(queue);
    const { received, failures = 0 } = entry;
    const speculative = this.#speculative.take(entry);
    const answer = await this.#options.answer({ ...received, ...queue.takeSkipped(), failures, speculative });
    queue.running = undefined;
    this.#scheduler.end(queue.source);
    if (answer === "failed" && !this.#isReleased(queue.source)) this.#retryLater(queue, owner, entry);
    else {
      this.#size--;
      entry.settle(answer === "failed" ? "left" : "done");
    }
    this.#offerOrClose(queue);
    this.#startRuns();
  }

  #retryLater(queue: SourceQueue, owner: string, entry: Waiting): void {
    queue.putBack(entry);
    this.#options.backlog.add(queuedOf(entry, owner));
    const { failures = 0 } = entry;
    entry.failures = failures + 1;
    queue.retry = setTimeout(
      () => {
        queue.retry = undefined;
        this.#offerOrClose(queue);
        this.#startRuns();
      },
      backoffMs(failures + 1, retryDelay, Math.random()),
    );
  }
}

const queuedOf = ({ received: { invocation }, bytes }: Waiting, owner: string): Queued => ({
  source: invocation.source,
  owner,
  bytes,
});
