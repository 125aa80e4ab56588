import { partitionOf } from "../../domain/invocation/partition.ts";
import { pause, retry } from "../../domain/retry.ts";
import { commitOf } from "../routing/commit-of.ts";
import type { DeliveryPorts } from "../ports.ts";
import type { OpenPartition, PartitionReading, Reading } from "../routing/ports.ts";
import type { RecordedCommit } from "./ports.ts";

const maxBatch = 500;
/** Commits that arrive a moment apart are written together; the first commit after a pause is written at once. */
const pauseMs = 40;
const retryMs = 500;

type Ports = Pick<DeliveryPorts, "runs" | "history" | "log">;

interface Unwritten extends RecordedCommit {
  readonly partition: number;
  readonly done: () => void;
}

/**
 * Commits → Postgres: events, runs and logs, with the position of their partition in the same transaction. No acks: it begins behind the
 * position that is stored, and writes only while the position is the one it expects. So each row is there exactly once, whoever is
 * killed and however many record the same partition. While Postgres is away it waits, and deliveries go on.
 */
export class Recorder implements Reading {
  readonly #ports: Ports;
  readonly #stopping = new AbortController();
  readonly #reading: PartitionReading<[afterSequence: number]>;
  /** As this process knows them, by partition. */
  readonly #positions = new Map<number, number>();
  #loading: Promise<readonly number[]> | undefined;
  #unwritten: Unwritten[] = [];
  #writing: Promise<void> = Promise.resolve();
  #isWriting = false;

  constructor(ports: Ports) {
    this.#ports = ports;
    this.#reading = ports.runs.record((text, seq, subject, done) => this.#add(text, seq, subject, done));
  }

  /** Records the partition as soon as Postgres tells its position. */
  open(partition: number): OpenPartition {
    const closing = new AbortController();
    const opening = this.#begin(partition, AbortSignal.any([closing.signal, this.#stopping.signal])); // Never rejects.
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

  async #begin(partition: number, signal: AbortSignal): Promise<OpenPartition | undefined> {
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

  /** Of all partitions; those that are opened together share one answer. */
  #readPositions(): Promise<readonly number[]> {
    this.#loading ??= this.#ports.history.positions().finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  #add(text: string, seq: number, subject: string, done: () => void): void {
    const commit = commitOf(text, subject, this.#ports.log);
    if (commit === undefined) return done();
    this.#unwritten.push({ seq, commit, partition: partitionOf(commit.source), done });
    if (!this.#isWriting) this.#writing = this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#unwritten.length > 0) {
      const batch = this.#unwritten.splice(0, maxBatch);
      const isWritten = await this.#repeat("commits are not recorded yet, trying again", this.#stopping.signal, () => this.#write(batch));
      if (!isWritten) return; // Commits behind a gap must not be written: the next recorder reads them again.
      if (!this.#stopping.signal.aborted) await pause(pauseMs);
    }
    this.#isWriting = false;
  }

  async #write(batch: readonly Unwritten[]): Promise<void> {
    const expected = new Map(batch.map(({ partition }) => [partition, this.#positions.get(partition) ?? 0]));
    const commits = batch.map(({ seq, commit }) => ({ seq, commit }));
    const refused = new Set(await this.#ports.history.recordCommits(commits, expected));
    const stored = refused.size === 0 ? [] : await this.#ports.history.positions();
    for (const partition of refused) this.#positions.set(partition, stored[partition] ?? 0);
    for (const { seq, partition, done } of batch) {
      if (refused.has(partition) && seq > (stored[partition] ?? 0)) continue;
      if (!refused.has(partition)) this.#positions.set(partition, seq);
      done();
    }
    this.#writeAgain(batch.filter(({ seq, partition }) => refused.has(partition) && seq > (stored[partition] ?? 0)));
  }

  /** Of partitions of which another recorder, or this one without hearing so, has recorded more than was expected. */
  #writeAgain(unwritten: readonly Unwritten[]): void {
    if (unwritten.length > 0) this.#unwritten = [...unwritten, ...this.#unwritten];
  }

  /** Until it succeeds; false when it is stopped before. */
  async #repeat(message: string, signal: AbortSignal, act: () => Promise<void>): Promise<boolean> {
    const onFailure = (error: unknown): void => this.#ports.log.warn({ op: "commit.record", err: error }, message);
    return retry(act, { firstMs: retryMs, signal, onFailure }).then(
      () => true,
      () => false,
    );
  }
}
