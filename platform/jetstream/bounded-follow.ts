import type { Connection } from "./connection.ts";
import type { Reading } from "./consumer.ts";
import { followFrom, type Following } from "./follow.ts";
import type { StreamMessage } from "./stream-message.ts";

export interface BoundedOptions {
  readonly connection: Connection;
  readonly stream: string;
  readonly afterSequence: number;
  /** In order of the stream. `done` may be called at any time and in any order; until then the floor stays below the message. */
  readonly onMessage: (message: StreamMessage, done: () => void) => void;
  /** The floor has risen. */
  readonly onFloor?: (floor: number) => void;
  readonly onInterrupted?: (reason: string) => void;
  /** Reading pauses while messages of so many bytes are open. A little more may be on its way. */
  readonly maxOpenBytes?: number;
  /** Messages above the floor. */
  readonly maxOpen?: number;
}

interface Open {
  readonly bytes: number;
  isDone: boolean;
}

const mebibyte = 1_048_576;
/** Requests overlap, so that four times as much may be on its way. */
const requestBytes = 2 * mebibyte;
/** Of a message besides its data: subject, headers, objects. */
const overheadBytes = 1_024;

/**
 * Follows a stream without acks and with bounded memory. Its floor says how far everything is done: whoever keeps the floor can go on
 * behind it after a crash.
 */
export class BoundedFollow implements Reading {
  readonly #options: BoundedOptions;
  readonly #maxOpenBytes: number;
  readonly #maxOpen: number;
  /** By sequence, in order of the stream: all that was handed out above the floor. */
  readonly #open = new Map<number, Open>();
  #following: Promise<Following> | undefined;
  #openBytes = 0;
  #floor: number;
  #isPaused = false;
  #onIdle: (() => void)[] = [];

  constructor(options: BoundedOptions) {
    this.#options = options;
    this.#floor = options.afterSequence;
    this.#maxOpenBytes = options.maxOpenBytes ?? 32 * mebibyte;
    this.#maxOpen = options.maxOpen ?? 20_000;
  }

  async start(): Promise<void> {
    const { connection, stream, afterSequence, onInterrupted } = this.#options;
    this.#following = followFrom({
      connection,
      stream,
      from: afterSequence + 1,
      maxBytes: Math.max(requestBytes, (connection.nats.info?.max_payload ?? 0) + 65_536),
      mayAsk: () => !this.#isPaused,
      onMessage: (message) => this.#take(message),
      ...(onInterrupted === undefined ? {} : { onInterrupted }),
    });
    await this.#following;
  }

  /** Every message up to this sequence is done. */
  get floor(): number {
    return this.#floor;
  }

  /** Bytes of messages that are not done. */
  get openBytes(): number {
    return this.#openBytes;
  }

  /** Hands out no more. What was handed out may still be done, see `idle`. */
  async stop(): Promise<void> {
    await (await this.#following)?.stop();
  }

  /** Resolves once everything that was handed out is done. */
  idle(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  #take(message: StreamMessage): void {
    const open: Open = { bytes: message.data.length + overheadBytes, isDone: false };
    this.#open.set(message.seq, open);
    this.#openBytes += open.bytes;
    if (!this.#hasRoom(1)) this.#isPaused = true;
    this.#options.onMessage(message, () => this.#done(open));
  }

  #done(open: Open): void {
    if (open.isDone) return;
    open.isDone = true;
    this.#openBytes -= open.bytes;
    this.#raiseFloor();
    if (this.#isPaused && this.#hasRoom(1 / 2)) {
      this.#isPaused = false;
      void this.#following?.then((following) => following.resume()); // `start` has reported its failure.
    }
  }

  #hasRoom(share: number): boolean {
    return this.#openBytes < share * this.#maxOpenBytes && this.#open.size < share * this.#maxOpen;
  }

  #raiseFloor(): void {
    const before = this.#floor;
    for (const [seq, open] of this.#open) {
      if (!open.isDone) break;
      this.#open.delete(seq);
      this.#floor = seq;
    }
    if (this.#floor > before) this.#options.onFloor?.(this.#floor);
    if (this.#open.size === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}
