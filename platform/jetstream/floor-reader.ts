import { AckPolicy, DeliverPolicy } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import type { Connection } from "./connection.ts";
import type { Reading } from "./consumer.ts";
import { createOrUpdateConsumer } from "./durable.ts";
import { Reader } from "./reader.ts";
import type { StreamMessage } from "./stream-message.ts";

export interface FloorOptions {
  readonly connection: Connection;
  readonly stream: string;
  /** Name of the durable consumer; made when missing, beginning with the first message of the stream. */
  readonly consumer: string;
  readonly filters: readonly string[];
  /** In order of the stream. `done` may be called at any time and in any order; until then the floor stays below the message. */
  readonly onMessage: (message: StreamMessage, done: () => void) => void;
  readonly onInterrupted?: (reason: string) => void;
  /** How far reading may run ahead of the floor. */
  readonly maxOpen?: number;
  readonly batch?: number;
}

interface Open {
  message: StreamMessage;
  done: boolean;
  /** Its reply subject belongs to the present life of the consumer. */
  current: boolean;
}

const ackEveryMs = 100; // As often as the server writes it down.

/**
 * Reads a limits stream with one floor in place of an ack per message: everything up to the floor is done. Only one process may read
 * a consumer, because a return begins again at the floor. What is done or under way here is then not handed out a second time; what a
 * crash leaves above the floor is.
 */
export class FloorReader implements Reading {
  readonly #options: FloorOptions;
  readonly #reader: Reader;
  /** In order of the stream, which is the order of the map. */
  readonly #open = new Map<number, Open>();
  #floor = 0;
  #expected = 1;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FloorOptions) {
    const { connection, stream, onInterrupted } = options;
    this.#options = options;
    this.#reader = new Reader({
      connection,
      stream,
      batch: options.batch ?? 200,
      onInterrupted,
      open: () => this.#begin(),
      onMessage: (message) => this.#take(message),
    });
  }

  start(): Promise<void> {
    return this.#reader.start();
  }

  /** Hands out no more, and acks what is done by now. Wait for what is under way before calling it. */
  async stop(): Promise<void> {
    await this.#reader.stop();
    clearTimeout(this.#timer);
    this.#raiseFloor();
  }

  /** Messages handed out that lie above the floor. */
  get openCount(): number {
    return this.#open.size;
  }

  async #begin(): Promise<string> {
    const { connection, stream, consumer } = this.#options;
    await createOrUpdateConsumer(connection, stream, floorConsumer(this.#options));
    // Messages that were on their way when the connection broke would come back later, behind others, and the floor would pass them by.
    await connection.manager.consumers.reset(stream, consumer);
    for (const open of this.#open.values()) open.current = false;
    this.#expected = 0;
    return consumer;
  }

  #take(message: StreamMessage): void {
    if (this.#expected !== 0 && message.deliverySeq !== this.#expected) return this.#reader.restart("a message is missing");
    this.#expected = message.deliverySeq + 1;
    const known = this.#open.get(message.seq);
    if (known !== undefined) {
      known.message = message;
      known.current = true;
      if (known.done) this.#schedule();
    } else if (message.seq <= this.#floor) {
      // The server forgot the last part of the floor when it crashed.
      message.ack();
    } else this.#handOut(message);
  }

  #handOut(message: StreamMessage): void {
    const open: Open = { message, done: false, current: true };
    this.#open.set(message.seq, open);
    this.#options.onMessage(message, () => {
      if (open.done) return;
      open.done = true;
      this.#schedule();
    });
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => this.#raiseFloor(), ackEveryMs);
  }

  #raiseFloor(): void {
    this.#timer = undefined;
    let last: StreamMessage | undefined;
    for (const [seq, open] of this.#open) {
      if (!open.done || !open.current) break;
      this.#open.delete(seq);
      this.#floor = seq;
      last = open.message;
    }
    last?.ack();
  }
}

function floorConsumer(options: FloorOptions) {
  return {
    durable_name: options.consumer,
    filter_subjects: [...options.filters],
    ack_policy: AckPolicy.All,
    deliver_policy: DeliverPolicy.All,
    // Never by time: a message that takes long is still under way here, and a return begins at the floor anyway.
    ack_wait: nanos(3_600_000),
    max_ack_pending: options.maxOpen ?? 20_000,
    max_deliver: -1,
  };
}
