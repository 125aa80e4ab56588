import { partitionOf } from "../../domain/invocation/partition.ts";
import type { Log } from "../../domain/log.ts";
import { pause, retry } from "../../domain/retry.ts";
import type { OpenPartition, PartitionReading, Reading, Runs } from "../routing/ports.ts";
import { parseCommit } from "../routing/router.ts";
import type { CommitRecords, RecordedCommit } from "./ports.ts";

const maxBatch = 500;
/** Commits that arrive within this time are written together. The first commit after a pause is written at once. */
const batchDelayMs = 40;
const retryMs = 500;

interface Ports {
  readonly runs: Pick<Runs, "record">;
  readonly history: CommitRecords;
  readonly log: Pick<Log, "warn">;
}

interface UnwrittenCommit extends RecordedCommit {
  readonly partition: number;
  readonly done: () => void;
}

/**
 * Records commits in Postgres: events, runs and logs, and the position of their partition in the same transaction. It starts after the
 * stored position and writes only while that position is the expected one. So each row is written exactly once, whichever process is
 * killed and however many replicas record the same partition. While Postgres is away it waits, and deliveries continue.
 */
export class Recorder implements Reading {
  readonly #ports: Ports;
  readonly #stopping = new AbortController();
  readonly #reading: PartitionReading<[afterSequence: number]>;
  /** Last known positions, by partition. */
  readonly #positions = new Map<number, number>();
  #loading: Promise<readonly number[]> | undefined;
  #unwritten: UnwrittenCommit[] = [];
  #writing: Promise<void> = Promise.resolve();
  #isWriting = false;

  constructor(ports: Ports) {
    this.#ports = ports;
    this.#reading = ports.runs.record((text, seq, subject, done) => this.#add(text, seq, subject, done));
  }

  /** Starts to record the partition as soon as its position can be read from Postgres. */
  open(partition: number): OpenPartition {
    const closing = new AbortController();
    const opening = this.#open(partition, AbortSignal.any([closing.signal, this.#stopping.signal])); // Never rejects.
    return {
      close: async () => {
        closing.abort();
        await (await opening)?.close();
      },
    };
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#reading.stop();
    await this.#writing;
  }

  async #open(partition: number, signal: AbortSignal): Promise<OpenPartition | undefined> {
    let opened: OpenPartition | undefined;
    await this.#repeat("the position of the recorder cannot be read yet, trying again", signal, async () => {
      const positions = await this.#readPositions();
      if (signal.aborted) return;
      const position = positions[partition] ?? 0;
      this.#positions.set(partition, position);
      opened = await this.#reading.open(partition, position);
    });
    return opened;
  }

  /** Partitions that are opened together share one query. */
  #readPositions(): Promise<readonly number[]> {
    this.#loading ??= this.#ports.history.positions().finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  #add(text: string, seq: number, subject: string, done: () => void): void {
    const commit = parseCommit(text, subject, this.#ports.log);
    if (commit === undefined) return done();
    this.#unwritten.push({ seq, commit, partition: partitionOf(commit.source), done });
    if (!this.#isWriting) this.#writing = this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#unwritten.length > 0) {
      const batch = this.#unwritten.splice(0, maxBatch);
      const isWritten = await this.#repeat("commits are not recorded yet, trying again", this.#stopping.signal, () => this.#write(batch));
      if (!isWritten) return; // Commits after a gap must not be written: the next recorder reads them again.
      if (!this.#stopping.signal.aborted) await pause(batchDelayMs);
    }
    this.#isWriting = false;
  }

  async #write(given: readonly UnwrittenCommit[]): Promise<void> {
    // A partition that is opened again repeats commits that are being written, or still wait in memory.
    const isWritten = ({ seq, partition }: UnwrittenCommit): boolean => seq <= this.#positionOf(partition);
    for (const { done } of given.filter(isWritten)) done();
    const batch = given.filter((each) => !isWritten(each));
    if (batch.length === 0) return;
    const expected = new Map(batch.map(({ partition }) => [partition, this.#positionOf(partition)]));
    const commits = [...new Map(batch.map(({ seq, commit }) => [seq, { seq, commit }])).values()].toSorted(
      (one, other) => one.seq - other.seq,
    );
    const refused = new Set(await this.#ports.history.recordCommits(commits, expected));
    const stored = refused.size === 0 ? [] : await this.#ports.history.positions();
    for (const partition of refused) this.#positions.set(partition, stored[partition] ?? 0);
    // Another replica, or this one without receiving the result, has recorded part of a refused partition.
    const isUnwritten = ({ seq, partition }: UnwrittenCommit): boolean => refused.has(partition) && seq > (stored[partition] ?? 0);
    for (const commit of batch) {
      if (isUnwritten(commit)) continue;
      if (!refused.has(commit.partition)) this.#positions.set(commit.partition, Math.max(commit.seq, this.#positionOf(commit.partition)));
      commit.done();
    }
    this.#unwritten.unshift(...batch.filter(isUnwritten));
  }

  #positionOf(partition: number): number {
    return this.#positions.get(partition) ?? 0;
  }

  /** Repeats `act` until it succeeds. Returns false if it is stopped first. */
  async #repeat(message: string, signal: AbortSignal, act: () => Promise<void>): Promise<boolean> {
    const onFailure = (error: unknown): void => this.#ports.log.warn({ op: "commit.record", err: error }, message);
    return retry(act, { firstMs: retryMs, signal, onFailure }).then(
      () => true,
      () => false,
    );
  }
}
