import { nanos, type Msg, type MsgHdrs } from "@nats-io/transport-node";

/** A message as a consumer delivered it, with what its reply subject says: `$JS.ACK.<stream>.<consumer>.<deliveries>.<seq>.<consumer seq>.<ns>.<pending>`. */
export class StreamMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  /** Stream sequence. */
  readonly seq: number;
  /** Sequence within the consumer: grows by one with each delivery. */
  readonly deliverySeq: number;
  /** 1 the first time. */
  readonly deliveries: number;
  /** Epoch milliseconds at which the server stored it. */
  readonly storedAt: number;
  /** Messages of the stream that this consumer has yet to see. */
  readonly pending: number;
  readonly #message: Msg;
  #settled = false;

  constructor(message: Msg) {
    this.#message = message;
    this.subject = message.subject;
    this.data = message.data;
    // With a domain the subject has two more tokens in front and one behind.
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

  /** Deliver it again after the delay; the server takes one with a fraction of a nanosecond for none at all. */
  nak(delayMs = 0): void {
    this.#settle(delayMs > 0 ? `-NAK ${JSON.stringify({ delay: nanos(Math.ceil(delayMs)) })}` : "-NAK");
  }

  /** Never deliver it again. */
  term(): void {
    this.#settle("+TERM");
  }

  /** Starts the consumer's ack wait anew. */
  working(): void {
    if (!this.#settled) this.#tell("+WPI");
  }

  /** An ack lost with the connection is no loss: the message comes again, and its reader must recognize it anyway. */
  #settle(answer: string): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#tell(answer);
  }

  #tell(answer: string): void {
    try {
      this.#message.respond(answer);
    } catch {
      // The connection is closed for good: see above.
    }
  }
}
