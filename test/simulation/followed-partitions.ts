import type { OpenPartition, PartitionReading } from "../../delivery/routing/ports.ts";
import { aborted } from "../../domain/retry.ts";
import { partitionOfRun } from "../../domain/subjects.ts";
import { Feed } from "./feed.ts";
import type { SimulatedProcess } from "./process.ts";
import type { FloorKind, RunsModel, StoredCommit } from "./runs-model.ts";

interface Followed {
  readonly feed: Feed<StoredCommit>;
  /** Sequences that were handed out and are not done. */
  readonly open: Set<number>;
  floor: number;
  last: number;
  onIdle: (() => void)[];
}

const publishEveryMs = 250;

/** How one role reads RUNS, by the rules of `platform/jetstream/read/partitioned-follow.ts`: in order, without acks, with a floor for each partition. */
export class FollowedPartitions {
  readonly #process: SimulatedProcess;
  readonly #runs: RunsModel;
  readonly #kind: FloorKind;
  readonly #onCommit: (commit: StoredCommit, done: () => void) => void;
  readonly #partitions = new Map<number, Followed>();
  readonly #closing = new Set<Followed>();
  readonly #floors = new Map<number, number>();
  #isPublishing = false;

  constructor(process: SimulatedProcess, runs: RunsModel, kind: FloorKind, onCommit: (commit: StoredCommit, done: () => void) => void) {
    this.#process = process;
    this.#runs = runs;
    this.#kind = kind;
    this.#onCommit = onCommit;
  }

  /** The sequence up to which a partition is done. */
  floorOf(partition: number): Promise<number> {
    return this.#process.request("nats", () => this.#runs.floors()[this.#kind][partition] ?? 0);
  }

  /** Reads a partition after a sequence. */
  async open(partition: number, after: number): Promise<OpenPartition> {
    const followed: Followed = {
      feed: new Feed(this.#process, (commit) => this.#take(partition, followed, commit)),
      open: new Set(),
      floor: after,
      last: after,
      onIdle: [],
    };
    await followed.feed.open((feed) => this.#runs.follow(feed, partition, after));
    this.#partitions.set(partition, followed);
    return { close: (signal) => this.#close(partition, followed, signal) };
  }

  /** Publishes the floors now. False: publishing failed. */
  async publish(): Promise<boolean> {
    const floors = new Map(this.#floors);
    try {
      await this.#process.request("nats", () => this.#runs.raise(this.#kind, floors));
      return true;
    } catch {
      return false;
    }
  }

  asReading(): Omit<PartitionReading, "open"> {
    return {
      idle: async () => void (await Promise.all([...this.#partitions.values(), ...this.#closing].map(idle))),
      stop: async () => {
        for (const { feed } of this.#partitions.values()) feed.close();
      },
    };
  }

  #take(partition: number, followed: Followed, commit: StoredCommit): void {
    if (partitionOfRun(commit.subject) !== partition) throw new Error("a commit of another partition");
    followed.open.add(commit.seq);
    followed.last = commit.seq;
    this.#onCommit(commit, () => this.#done(partition, followed, commit.seq));
  }

  #done(partition: number, followed: Followed, seq: number): void {
    if (!followed.open.delete(seq)) return;
    const [first] = followed.open;
    followed.floor = first === undefined ? followed.last : Math.max(followed.floor, first - 1);
    this.#floors.set(partition, Math.max(this.#floors.get(partition) ?? 0, followed.floor));
    if (followed.open.size === 0) for (const resolve of followed.onIdle.splice(0)) resolve();
    this.#publishSoon();
  }

  #publishSoon(): void {
    if (this.#isPublishing) return;
    this.#isPublishing = true;
    setTimeout(() => {
      this.#isPublishing = false;
      void this.publish().then((isPublished) => isPublished || this.#publishSoon());
    }, publishEveryMs);
  }

  async #close(partition: number, followed: Followed, signal?: AbortSignal): Promise<void> {
    followed.feed.close();
    if (this.#partitions.get(partition) === followed) this.#partitions.delete(partition);
    this.#closing.add(followed);
    await (signal === undefined ? idle(followed) : Promise.race([idle(followed), aborted(signal)]));
    this.#closing.delete(followed);
    followed.open.clear();
    for (const resolve of followed.onIdle.splice(0)) resolve();
  }
}

function idle({ open, onIdle }: Followed): Promise<void> {
  return open.size === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve));
}
