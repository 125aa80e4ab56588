import type { StreamMessage } from "./stream-message.ts";

/**
 * Messages of a work queue in progress. Their ack wait is extended until they are acked, so that NATS does not redeliver them. A message that
 * is redelivered nevertheless, after NATS was unavailable, is recognized as the same work.
 */
export class HeldMessages {
  readonly #extendEveryMs: number;
  readonly #held = new Map<number, StreamMessage>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(ackWaitMs: number) {
    this.#extendEveryMs = ackWaitMs / 3;
  }

  /** Bytes of all messages in progress. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @returns the function that acks the message; undefined if the message is in progress already */
  take(message: StreamMessage): (() => void) | undefined {
    const { seq } = message;
    const isHeld = this.#held.has(seq);
    // NATS knows only the newest delivery.
    this.#held.set(seq, message);
    if (isHeld) return undefined;
    this.#bytes += message.data.length;
    this.#timer ??= setInterval(() => this.#extend(), this.#extendEveryMs);
    return () => this.#ack(seq);
  }

  /** Stops extending; messages in progress can still be acked. */
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
