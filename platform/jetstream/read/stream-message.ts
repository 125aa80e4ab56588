import { nanos, type Msg, type MsgHdrs } from "@nats-io/transport-node";

/** A message as a consumer delivered it, with the fields of its reply subject: `$JS.ACK.<stream>.<consumer>.<deliveries>.<seq>.<consumer seq>.<ns>.<pending>`. */
export class StreamMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  /** Stream sequence. */
  readonly seq: number;
  /** Sequence within the consumer: grows by one with each delivery. */
  readonly deliverySeq: number;
  /** Number of deliveries of this message: 1 for the first. */
  readonly deliveries: number;
  /** Epoch ms at which NATS stored it. */
  readonly storedAt: number;
  /** Messages that this consumer has not delivered yet. */
  readonly pending: number;
  readonly #message: Msg;
  #settled = false;

  constructor(message: Msg) {
    this.#message = message;
    this.subject = message.subject;
    this.data = message.data;
    // With a JetStream domain the subject has two more tokens at the start and one at the end.
    const tokens = (message.reply ?? "").split(".");
    const first = tokens.length === 9 ? 4 : 6;
    this.deliveries = Number(tokens[first]);
    this.seq = Number(tokens[first + 1]);
    this.deliverySeq = Number(tokens[first + 2]);
    this.storedAt = Math.floor(Number(tokens[first + 3]) / 1e6);
    this.pending = Number(tokens[first + 4]);
  }

  get headers(): MsgHdrs | undefined {
    return this.#message.headers;
  }

  text(): string {
    return this.#message.string();
  }

  ack(): void {
    this.#settle("");
  }

  /** Requests redelivery after the delay. NATS ignores a delay with a fraction of a nanosecond. */
  nak(delayMs = 0): void {
    this.#settle(delayMs > 0 ? `-NAK ${JSON.stringify({ delay: nanos(Math.ceil(delayMs)) })}` : "-NAK");
  }

  /** Prevents any redelivery. */
  term(): void {
    this.#settle("+TERM");
  }

  /** Restarts the ack wait. */
  working(): void {
    if (!this.#settled) this.#respond("+WPI");
  }

  /** An ack may be lost with the connection: the message is redelivered, and its reader must recognize it anyway. */
  #settle(answer: string): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#respond(answer);
  }

  #respond(answer: string): void {
    try {
      this.#message.respond(answer);
    } catch {
      // The connection is closed: the message is redelivered.
    }
  }
}
