import { partitionOf } from "../domain/partition.ts";
import { dueAtOf, mostSkippedTold } from "../domain/ticks.ts";
import { Ahead } from "./ahead.ts";
import { FairOrder } from "./fair-order.ts";
import type { QueueCounts } from "./ports.ts";
import type { QueueOptions } from "./queue-options.ts";
import { isAwaited, isPlainTick, isUrgent, queuedOf, type Waiting } from "./waiting.ts";

export type { QueueOptions } from "./queue-options.ts";
export type { Waiting } from "./waiting.ts";

interface Queue {
  readonly source: string;
  /** Undefined until it is known. */
  owner: string | undefined;
  readonly waiting: Waiting[];
  running: Waiting | undefined;
  skippedTicks: number;
  /** Epoch ms at which the last of them were due. */
  skippedDue: number[];
  /** Of its first invocation, in a row. */
  failures: number;
  /** While it waits to try that one again. */
  retry: NodeJS.Timeout | undefined;
}

/** Those who own nothing, and whose invocations are dropped when their turn comes. */
const nobody = "";
/** From then on a run is none of those that are over in a moment. */
const freshMs = 50;
/** After how long an invocation that could not be answered is tried again, by how often it failed. */
const retryMs = [250, 500, 1_000, 2_000, 5_000, 10_000] as const;

/**
 * One run at a time per source, in order of arrival; sources side by side, as many as the limits let, each owner in turn. What fails is
 * tried again first.
 *
 * A source waits, runs, and waits again; it has a queue only while something is in it. A tick that arrives while another tick
 * waits is settled without a run: a source slower than its timer would otherwise fall behind for ever. The next run tells of it.
 */
export class SourceQueues {
  readonly #queues = new Map<string, Queue>();
  readonly #options: QueueOptions;
  readonly #order: FairOrder;
  readonly #ahead: Ahead;
  #size = 0;
  /** Resolved when no source of the partition runs; undefined: of all. */
  #ending: { readonly partition: number | undefined; readonly resolve: () => void }[] = [];
  #stopping = false;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#order = new FairOrder(options.limits, options.weightOf);
    this.#ahead = new Ahead(options.runAhead);
  }

  /** Invocations waiting or running. */
  get size(): number {
    return this.#size;
  }

  counts(): QueueCounts {
    const { backlog, now } = this.#options;
    const running = this.#order.running;
    return {
      running,
      waiting: this.#size - running,
      heldBack: this.#order.heldBack(now()),
      overQuota: this.#order.parked(),
      fullSources: backlog.fullSources,
      fullOwners: backlog.fullOwners,
    };
  }

  /**
   * The owner's quota is used up: the owner's invocations wait. Hooks, calls and dry runs go first and run; one tick of each source is
   * kept; requests whose callers wait for an answer are refused.
   */
  park(owner: string): void {
    this.#order.park(owner);
    for (const queue of this.#queuesOf(owner)) {
      const waiting = queue.waiting.splice(0);
      const [urgent, others] = [waiting.filter(isUrgent), waiting.filter((entry) => !isUrgent(entry))];
      queue.waiting.push(...urgent, ...others.filter((entry) => !isAwaited(entry)));
      for (const entry of others.filter(isAwaited)) {
        this.#size--;
        this.#options.backlog.remove(queuedOf(entry, owner));
        this.#refuse(entry, owner);
      }
      if (queue.running !== undefined) continue;
      this.#order.leave(queue.source, owner);
      this.#wait(queue, owner);
      this.#close(queue);
    }
    this.#startNext();
  }

  /** There is something left of the owner's quota again: what waits runs in the order in which it came. */
  unpark(owner: string): void {
    this.#order.unpark(owner);
    this.#startNext();
  }

  push(entry: Waiting): void {
    if (this.#stopping) return entry.settle("left");
    const { source } = entry.received.invocation;
    const queue = this.#queues.get(source) ?? this.#open(source, entry.received);
    if (queue.owner === undefined) {
      this.#size++;
      queue.waiting.push(entry);
    } else {
      this.#admit(queue, queue.owner, entry);
      this.#close(queue);
    }
  }

  /** What the runs of an owner cost besides their number, ms. */
  charge(owner: string, costMs: number): void {
    this.#order.charge(owner, costMs);
  }

  /** The run of this source waits for somebody else: others of its owner may go on. */
  pause(source: string): void {
    this.#order.pause(source);
    this.#startNext();
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
      for (const entry of queue.waiting.splice(0)) {
        this.#size--;
        if (queue.owner !== undefined) this.#options.backlog.remove(queuedOf(entry, queue.owner));
        entry.settle("left");
      }
      if (queue.owner !== undefined) this.#order.leave(queue.source, queue.owner);
      this.#close(queue);
    }
    return new Promise((resolve) => {
      this.#ending.push({ partition, resolve });
      this.#endIfOver();
    });
  }

  #endIfOver(): void {
    this.#ending = this.#ending.filter(({ partition, resolve }) => {
      const isOver =
        partition === undefined ? this.#queues.size === 0 : !this.#queues.keys().some((source) => partitionOf(source) === partition);
      if (isOver) resolve();
      return !isOver;
    });
  }

  #open(source: string, first: Waiting["received"]): Queue {
    const queue: Queue = {
      source,
      owner: undefined,
      waiting: [],
      running: undefined,
      skippedTicks: 0,
      skippedDue: [],
      failures: 0,
      retry: undefined,
    };
    this.#queues.set(source, queue);
    const owner = this.#options.ownerOf(first);
    if (owner instanceof Promise) {
      // When it cannot be told now, answering will find out why.
      owner.then(
        (known) => this.#own(queue, known),
        () => this.#own(queue, undefined),
      );
    } else queue.owner = owner ?? nobody;
    return queue;
  }

  /** What arrived until its owner was known takes its place now. */
  #own(queue: Queue, owner: string = nobody): void {
    if (this.#stopping) return;
    queue.owner = owner;
    for (const entry of queue.waiting.splice(0)) {
      this.#size--;
      this.#admit(queue, owner, entry);
    }
    this.#close(queue);
  }

  /** Leaves a queue open that nothing is in, since more may follow: whoever calls this closes it. */
  #admit(queue: Queue, owner: string, entry: Waiting): void {
    if (isPlainTick(entry) && queue.waiting.some(isPlainTick)) {
      queue.skippedTicks++;
      queue.skippedDue = [...queue.skippedDue, dueAtOf(entry.received.invocation, entry.received.storedAt)].slice(-mostSkippedTold);
      return entry.settle("done");
    }
    const isParked = this.#order.isParked(owner);
    if (isParked && isAwaited(entry)) return this.#refuse(entry, owner);
    const isIdle = queue.waiting.length === 0 && queue.running === undefined;
    const isFirst = isParked && isUrgent(entry);
    this.#size++;
    this.#options.backlog.add(queuedOf(entry, owner));
    if (isFirst) queue.waiting.splice(queue.waiting.filter(isUrgent).length, 0, entry);
    else queue.waiting.push(entry);
    this.#ahead.look(queue);
    if (!isIdle && (!isFirst || queue.running !== undefined)) return;
    this.#wait(queue, owner);
    this.#startNext();
  }

  #refuse(entry: Waiting, owner: string): void {
    this.#options.refuse?.(entry.received.invocation, owner);
    entry.settle("done");
  }

  #wait(queue: Queue, owner: string): void {
    const [next] = queue.waiting;
    if (next !== undefined) this.#order.wait(queue.source, owner, this.#options.now(), isUrgent(next));
  }

  #queuesOf(owner: string): Queue[] {
    return [...this.#queues.values()].filter((queue) => queue.owner === owner);
  }

  #startNext(): void {
    if (this.#stopping) return;
    for (let turn = this.#order.next(this.#options.now()); turn !== undefined; turn = this.#order.next(this.#options.now())) {
      const queue = this.#queues.get(turn.source);
      const entry = queue?.waiting.shift();
      if (queue === undefined || entry === undefined) this.#order.end(turn.source, this.#options.now());
      else void this.#run(queue, turn.owner, entry); // Never rejects: `answer` turns errors into dispositions.
    }
  }

  async #run(queue: Queue, owner: string, entry: Waiting): Promise<void> {
    const { source, skippedTicks, skippedDue } = queue;
    queue.running = entry;
    queue.skippedTicks = 0;
    queue.skippedDue = [];
    this.#ahead.look(queue);
    this.#options.backlog.remove(queuedOf(entry, owner));
    const growing = setTimeout(() => {
      this.#order.grow(source);
      this.#startNext();
    }, freshMs);
    const answer = await this.#options.answer({ ...entry.received, skippedTicks, skippedDue, ahead: this.#ahead.take(entry) });
    clearTimeout(growing);
    queue.running = undefined;
    this.#order.end(source, this.#options.now());
    if (answer === "failed" && !this.#stopping) this.#retryLater(queue, owner, entry);
    else {
      this.#size--;
      queue.failures = 0;
      entry.settle(answer === "failed" ? "left" : "done");
      if (queue.waiting.length > 0) this.#wait(queue, owner);
      else this.#close(queue);
    }
    this.#startNext();
  }

  /** The order of a source's invocations is kept: what failed is tried again before what waits behind it. */
  #retryLater(queue: Queue, owner: string, entry: Waiting): void {
    queue.waiting.unshift(entry);
    this.#options.backlog.add(queuedOf(entry, owner));
    queue.retry = setTimeout(
      () => {
        queue.retry = undefined;
        if (queue.running === undefined) this.#wait(queue, owner);
        this.#startNext();
      },
      retryMs[Math.min(queue.failures++, retryMs.length - 1)],
    );
  }

  /** Unless there is something in it. */
  #close(queue: Queue): void {
    if (queue.waiting.length > 0 || queue.running !== undefined) return;
    clearTimeout(queue.retry);
    if (this.#queues.get(queue.source) === queue) this.#queues.delete(queue.source);
    if (this.#ending.length > 0) this.#endIfOver();
  }
}
