import type { StreamMessage } from "./stream-message.ts";

/**
 * Messages of a work queue that are being worked on. Their ack wait is extended for as long as that takes, so that NATS hands none of them out
 * a second time. A message that is redelivered all the same, after the server was away, is the same work.
 */
export class HeldMessages {
  readonly #extendEveryMs: number;
  readonly #held = new Map<number, StreamMessage>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(ackWaitMs: number) {
    this.#extendEveryMs = ackWaitMs / 3;
  }

  /** Of all messages together. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @returns acks the message; undefined when it is being worked on already */
  take(message: StreamMessage): (() => void) | undefined {
    const { seq } = message;
    const isHeld = this.#held.has(seq);
    // Only the newest delivery is known to the server.
    this.#held.set(seq, message);
    if (isHeld) return undefined;
    this.#bytes += message.data.length;
    this.#timer ??= setInterval(() => this.#extend(), this.#extendEveryMs);
    return () => this.#ack(seq);
  }

  /** Extends nothing any more; what is held may still be acked. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #extend(): void {
    for (const message of this.#held.values()) message.working();
  }

  #ack(seq: number): void {
    const message = this.#held.get(seq);
    if (message === undefined) return;
    this.#held.delete(seq);
    this.#bytes -= message.data.length;
    message.ack();
    if (this.#held.size === 0) this.stop();
  }
}
