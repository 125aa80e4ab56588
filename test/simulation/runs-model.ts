import { partitionOf } from "../../domain/invocation/partition.ts";
import { partitionCount, partitionOfRun, runSubject } from "../../domain/subjects.ts";
import { deletedMarker } from "../../domain/workflow/run-commit.ts";
import type { Appended, EndMarker } from "../../runner/commit/ports.ts";
import type { Feed } from "./feed.ts";
import type { VirtualTime } from "./virtual-time.ts";

export interface StoredCommit {
  readonly seq: number;
  readonly subject: string;
  readonly text: string;
  /** Virtual time. */
  readonly storedAt: number;
}

export type FloorKind = "routed" | "recorded";

/** The name of the stream, which is never recreated here. */
export const runsStream = "RUNS@simulated";

/** Processed commits that are younger are not trimmed: a replica may have read the floors, and be about to read behind them. */
const keptMs = 10_000;

/**
 * The streams RUNS and STATE, and the floors. Commits are trimmed soon, so that a floor that is too high loses some. `all` keeps them for the
 * comparison at the end.
 */
export class RunsModel {
  readonly #time: VirtualTime;
  readonly all: StoredCommit[] = [];
  readonly #stored: StoredCommit[] = [];
  /** The last commit of each subject, which trimming keeps. */
  readonly #last = new Map<string, StoredCommit>();
  readonly #readers = new Map<Feed<StoredCommit>, number>();
  readonly #floors: Record<FloorKind, number[]> = { routed: zeros(), recorded: zeros() };

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  last(owner: string, history: string): { readonly commit: string | undefined; readonly sequence: number } {
    const last = this.#last.get(subjectOf(owner, history));
    return last === undefined || last.text === deletedMarker
      ? { commit: undefined, sequence: 0 }
      : { commit: last.text, sequence: last.seq };
  }

  append(owner: string, history: string, text: string, expected: number): Appended {
    const subject = subjectOf(owner, history);
    if ((this.#last.get(subject)?.seq ?? 0) !== expected) return { outcome: "refused" };
    return { outcome: "stored", sequence: this.#store(subject, text) };
  }

  /** The marker of an ended run. What NATS forgets later is not forgotten here. */
  end(owner: string, history: string, expected: number, { text }: EndMarker): void {
    this.append(owner, history, text, expected);
  }

  endDeleted(owner: string, history: string): void {
    this.#store(subjectOf(owner, history), deletedMarker);
  }

  floors(): Readonly<Record<FloorKind, readonly number[]>> {
    return this.#floors;
  }

  raise(kind: FloorKind, floors: ReadonlyMap<number, number>): void {
    const known = this.#floors[kind];
    for (const [partition, floor] of floors) known[partition] = Math.max(known[partition] ?? 0, floor);
    const { routed, recorded } = this.#floors;
    for (let index = this.#stored.length - 1; index >= 0; index--) {
      const { subject, seq, storedAt } = this.#stored[index] ?? { subject: "", seq: 0, storedAt: 0 };
      const partition = partitionOfRun(subject);
      if (this.#time.now - storedAt > keptMs && seq <= Math.min(routed[partition] ?? 0, recorded[partition] ?? 0))
        this.#stored.splice(index, 1);
    }
  }

  /** Hands out the commits of a partition after a sequence, and those to come. */
  follow(feed: Feed<StoredCommit>, partition: number, after: number): void {
    this.#readers.set(feed, partition);
    for (const commit of this.#stored) if (commit.seq > after && partitionOfRun(commit.subject) === partition) feed.push(commit);
  }

  #store(subject: string, text: string): number {
    const commit = { seq: this.all.length + 1, subject, text, storedAt: this.#time.now };
    this.all.push(commit);
    this.#stored.push(commit);
    this.#last.set(subject, commit);
    for (const [feed, partition] of this.#readers) {
      if (!feed.isOpen) this.#readers.delete(feed);
      else if (partition === partitionOfRun(subject)) feed.push(commit);
    }
    return commit.seq;
  }
}

const zeros = (): number[] => Array.from({ length: partitionCount }, () => 0);
const subjectOf = (owner: string, history: string): string => runSubject(partitionOf(history), owner, history);
