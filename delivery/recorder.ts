import { setTimeout as sleep } from "node:timers/promises";
import { commitOf } from "./commit-of.ts";
import type { DeliveryPorts, Reading, RecordedCommit } from "./ports.ts";

const mostInBatch = 500;
/** What is written a moment apart is written together; a first commit after a pause is written at once. */
const pauseMs = 40;
const retryMs = 500;

/**
 * Commits → Postgres: events, runs and logs, with the stream position in the same transaction. No acks: it begins after the
 * position it stored, so each row is there exactly once, whatever is killed.
 */
export async function startRecorder(ports: Pick<DeliveryPorts, "runs" | "history" | "log">): Promise<Reading> {
  const batch = new Batch(ports);
  const reading = await ports.runs.record(await ports.history.position(), (text, sequence, subject) => batch.add(text, sequence, subject));
  return {
    stop: async () => {
      await reading.stop();
      await batch.stop();
    },
  };
}

class Batch {
  readonly #ports: Pick<DeliveryPorts, "history" | "log">;
  readonly #stop = new AbortController();
  #commits: RecordedCommit[] = [];
  #writing: Promise<void> | undefined;

  constructor(ports: Pick<DeliveryPorts, "history" | "log">) {
    this.#ports = ports;
  }

  /** @returns a promise when the batch is full: read on when it is settled. */
  add(text: string, sequence: number, subject: string): Promise<void> | undefined {
    const commit = commitOf(text, subject, this.#ports.log);
    if (commit === undefined) return undefined;
    this.#commits.push({ seq: sequence, commit });
    this.#writing ??= this.#writeAll();
    return this.#commits.length >= mostInBatch ? this.#writing : undefined;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#commits.length > 0) {
      const commits = this.#commits;
      this.#commits = [];
      const written = await this.#writeSurely(commits);
      if (!written) return; // What comes after a gap must not be written.
      if (!this.#stop.signal.aborted) await sleep(pauseMs);
    }
    this.#writing = undefined;
  }

  /** Until it is written, or until we stop: then whoever comes next reads it again. */
  async #writeSurely(commits: readonly RecordedCommit[]): Promise<boolean> {
    for (;;) {
      try {
        await this.#ports.history.recordCommits(commits);
        return true;
      } catch (error) {
        this.#ports.log.warn({ op: "commit.record", commits: commits.length, err: error }, "commits are not recorded yet, trying again");
        if (this.#stop.signal.aborted) return false;
        await sleep(retryMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      }
    }
  }
}
