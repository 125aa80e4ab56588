import type { Clock } from "../domain/clock.ts";
import type { Intake } from "./ports.ts";

/** How far the queue of a partition had come when the server was asked. */
export interface Progress {
  /** Epoch ms at which it was asked. */
  readonly askedAt: number;
  /** Sequence of the last message that some runner was given. */
  readonly handedOut: number;
  /** No message up to this one can come again. */
  readonly settled: number;
}

const askEveryMs = 5_000;

/** What is known of partitions' progress. The server is asked when somebody wants to know, and nobody waits for its answer. */
export class Progresses {
  readonly #intake: Pick<Intake, "progress">;
  readonly #clock: Clock;
  readonly #known = new Map<number, Progress>();
  readonly #asked = new Map<number, number>();

  constructor(intake: Pick<Intake, "progress">, clock: Clock) {
    this.#intake = intake;
    this.#clock = clock;
  }

  /** Undefined: it is not known yet. */
  of(partition: number): Progress | undefined {
    const now = this.#clock.now();
    if (now - (this.#asked.get(partition) ?? Number.NEGATIVE_INFINITY) >= askEveryMs) void this.#ask(partition, now); // Never rejects.
    return this.#known.get(partition);
  }

  async #ask(partition: number, askedAt: number): Promise<void> {
    this.#asked.set(partition, askedAt);
    try {
      const { handedOut, settled } = await this.#intake.progress(partition);
      this.#known.set(partition, { askedAt, handedOut, settled });
    } catch {
      // Asked again the next time: until then everything is remembered.
    }
  }
}
