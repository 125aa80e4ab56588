import type { Connection } from "./connection.ts";
import type { Reading } from "./consumer.ts";
import { followFrom } from "./follow.ts";
import type { StreamMessage } from "./stream-message.ts";

export interface PacedOptions {
  readonly connection: Connection;
  readonly stream: string;
  readonly afterSequence: number;
  /** The next message comes when the promise is settled; without one, at once. Must neither throw nor reject. */
  readonly onMessage: (message: StreamMessage) => Promise<void> | undefined;
  readonly onInterrupted?: (reason: string) => void;
}

/** More waiting messages than this, and reading pauses until none waits. */
const mostWaiting = 2_000;

/** Follows a stream like `followFrom`, at the pace of its reader and with bounded memory. */
export async function followPaced(options: PacedOptions): Promise<Reading> {
  const pace = new Pace(options);
  await pace.read();
  return pace;
}

class Pace implements Reading {
  readonly #options: PacedOptions;
  #waiting: StreamMessage[] = [];
  #following: Promise<Reading> | undefined;
  #pumping: Promise<void> = Promise.resolve();
  #isPumping = false;
  #last: number;
  #paused = false;
  #stopped = false;

  constructor(options: PacedOptions) {
    this.#options = options;
    this.#last = options.afterSequence;
  }

  async read(): Promise<void> {
    const { connection, stream, onInterrupted } = this.#options;
    this.#paused = false;
    this.#following = followFrom({
      connection,
      stream,
      from: this.#last + 1,
      ...(onInterrupted === undefined ? {} : { onInterrupted }),
      onMessage: (message) => this.#take(message),
    });
    await this.#following;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#waiting = [];
    await (await this.#following)?.stop();
    await this.#pumping;
  }

  #take(message: StreamMessage): void {
    if (this.#stopped || message.seq <= this.#last) return;
    this.#last = message.seq;
    this.#waiting.push(message);
    if (this.#waiting.length >= mostWaiting) this.#paused = true;
    if (!this.#isPumping) this.#pumping = this.#pump();
  }

  async #pump(): Promise<void> {
    this.#isPumping = true;
    while (this.#waiting.length > 0 && !this.#stopped) {
      const messages = this.#waiting;
      this.#waiting = [];
      if (this.#paused) await (await this.#following)?.stop();
      for (const message of messages) {
        if (this.#stopped) break;
        const busy = this.#options.onMessage(message);
        if (busy !== undefined) await busy;
      }
    }
    // At once, and not in a callback of the promise: the next message may come in this very turn.
    this.#isPumping = false;
    if (this.#paused && !this.#stopped) await this.read();
  }
}
