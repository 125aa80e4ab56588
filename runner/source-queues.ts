import { dueAtOf, mostSkippedTold } from "../domain/ticks.ts";
import { Ahead } from "./ahead.ts";
import { FairOrder } from "./fair-order.ts";
import type { QueueCounts } from "./ports.ts";
import type { QueueOptions } from "./queue-options.ts";
import { isAwaited, isPlainTick, isUrgent, queuedOf, type Waiting } from "./waiting.ts";

export type { QueueOptions } from "./queue-options.ts";
export type { Disposition, Waiting } from "./waiting.ts";

interface Queue {
  readonly source: string;
  /** Undefined until it is known. */
  owner: string | undefined;
  readonly waiting: Waiting[];
  running: Waiting | undefined;
  skippedTicks: number;
  /** Epoch ms at which the last of them were due. */
  skippedDue: number[];
}

/** Those who own nothing, and whose invocations are dropped when their turn comes. */
const nobody = "";
/** From then on a run is none of those that are over in a moment. */
const freshMs = 50;

/**
 * One run at a time per source, in order of arrival; sources side by side, as many as the limits let, each owner in turn.
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
  #idle: (() => void)[] = [];
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
    if (this.#stopping) return entry.settle("later");
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

  /** Gives back what waits, lets what runs end until the signal aborts, then gives that back too. */
  async stop(signal: AbortSignal): Promise<void> {
    this.#stopping = true;
    for (const queue of this.#queues.values()) {
      for (const entry of queue.waiting.splice(0)) {
        this.#size--;
        if (queue.owner !== undefined) this.#options.backlog.remove(queuedOf(entry, queue.owner));
        entry.settle("later");
      }
      if (queue.owner !== undefined) this.#order.leave(queue.source, queue.owner);
      if (queue.running === undefined) this.#queues.delete(queue.source);
    }
    await this.#settledOr(signal);
    for (const queue of this.#queues.values()) queue.running?.settle("later");
  }

  #settledOr(signal: AbortSignal): Promise<void> {
    if (this.#queues.size === 0 || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
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
    const disposition = await this.#options.answer({ ...entry.received, skippedTicks, skippedDue, ahead: this.#ahead.take(entry) });
    clearTimeout(growing);
    queue.running = undefined;
    this.#size--;
    this.#order.end(source, this.#options.now());
    entry.settle(disposition);
    if (queue.waiting.length > 0) this.#wait(queue, owner);
    else this.#close(queue);
    this.#startNext();
  }

  /** Unless there is something in it. */
  #close(queue: Queue): void {
    if (queue.waiting.length > 0 || queue.running !== undefined) return;
    this.#queues.delete(queue.source);
    if (this.#queues.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}
