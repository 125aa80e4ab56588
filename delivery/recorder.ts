import { setTimeout as sleep } from "node:timers/promises";
import { commitOf } from "./commit-of.ts";
import type { DeliveryPorts, Reading, RecordedCommit } from "./ports.ts";

const maxBatch = 500;
/** Commits that arrive a moment apart are written together; the first commit after a pause is written at once. */
const pauseMs = 40;
const retryMs = 500;

type Ports = Pick<DeliveryPorts, "runs" | "history" | "log">;

interface Unwritten extends RecordedCommit {
  readonly done: () => void;
}

/**
 * Commits → Postgres: events, runs and logs, with the stream position in the same transaction. No acks: it begins after the
 * position it stored, so each row is there exactly once, whatever is killed. While Postgres is away it waits, and deliveries go on.
 */
export function startRecorder(ports: Ports): Reading {
  const recorder = new Recorder(ports);
  const starting = recorder.start(); // Never rejects.
  return {
    stop: async () => {
      recorder.abort();
      await starting;
      await recorder.stop();
    },
  };
}

class Recorder {
  readonly #ports: Ports;
  readonly #stop = new AbortController();
  #reading: Reading | undefined;
  #unwritten: Unwritten[] = [];
  #writing: Promise<void> = Promise.resolve();
  #isWriting = false;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Resolves when reading has begun, or when it is stopped before. */
  async start(): Promise<void> {
    const { runs, history } = this.#ports;
    await this.#repeat("the position of the recorder cannot be read yet, trying again", async () => {
      this.#reading = await runs.record(await history.position(), (text, seq, subject, done) => this.#add(text, seq, subject, done));
    });
  }

  abort(): void {
    this.#stop.abort();
  }

  async stop(): Promise<void> {
    await this.#reading?.stop();
    await this.#writing;
  }

  #add(text: string, seq: number, subject: string, done: () => void): void {
    const commit = commitOf(text, subject, this.#ports.log);
    if (commit === undefined) return done();
    this.#unwritten.push({ seq, commit, done });
    if (!this.#isWriting) this.#writing = this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#unwritten.length > 0) {
      const batch = this.#unwritten.splice(0, maxBatch);
      const commits = batch.map(({ seq, commit }) => ({ seq, commit }));
      const isWritten = await this.#repeat("commits are not recorded yet, trying again", () => this.#ports.history.recordCommits(commits));
      if (!isWritten) return; // Commits after a gap must not be written: the next recorder reads them again.
      for (const { done } of batch) done();
      if (!this.#stop.signal.aborted) await sleep(pauseMs);
    }
    this.#isWriting = false;
  }

  /** Until it succeeds; false when it is stopped before. */
  async #repeat(message: string, act: () => Promise<void>): Promise<boolean> {
    for (;;) {
      try {
        await act();
        return true;
      } catch (error) {
        this.#ports.log.warn({ op: "commit.record", err: error }, message);
        if (this.#stop.signal.aborted) return false;
        await sleep(retryMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      }
    }
  }
}
