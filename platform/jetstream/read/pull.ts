import { nanos, type Msg, type MsgHdrs, type NatsConnection, type Subscription } from "@nats-io/transport-node";
import { StreamMessage } from "./stream-message.ts";

export interface PullOptions {
  readonly nats: NatsConnection;
  readonly inbox: string;
  readonly apiPrefix: string;
  readonly stream: string;
  readonly consumer: string;
  /** Messages asked for ahead of need. */
  readonly batch: number | (() => number);
  /** Bytes that one request may bring: at least the largest message. Absent: any number. */
  readonly maxBytes?: number | undefined;
  /** What is handed to this process while it stands still is redelivered after the ack wait: a request that ends sooner brings it less. */
  readonly expiresMs?: number | undefined;
  /** While this returns false nothing more is asked for, until {@link Pull.resume}. Absent: always true. */
  readonly canPull?: (() => boolean) | undefined;
  readonly onMessage: (message: StreamMessage) => void;
  /** Once: this pull has ended (consumer gone, server restarting, silence); a new one must be made. */
  readonly onLost: (reason: string) => void;
}

const defaultExpiresMs = 10_000;
const heartbeatMs = 2_500;
const silenceMs = 3 * heartbeatMs;
/** How the server ends a request with `max_bytes`: the next message does not fit into what is left, or it has brought all its messages. */
const requestEnds = ["Message Size Exceeds MaxBytes", "Batch Completed"];

/** Keeps a pull consumer's messages coming over one inbox, until something breaks it. It never mends itself: a {@link Reader} makes a new one. */
export class Pull {
  readonly #options: PullOptions;
  readonly #inbox: string;
  readonly #subscription: Subscription;
  readonly #watch: NodeJS.Timeout;
  #asked = 0;
  #heardAt = performance.now();
  #ended = false;

  constructor(options: PullOptions) {
    this.#options = options;
    this.#inbox = options.inbox;
    this.#subscription = options.nats.subscribe(this.#inbox, {
      callback: (error, message) => (error === null ? this.#onMessage(message) : this.#lose(error.message)),
    });
    this.#watch = setInterval(() => this.#listenForSilence(), heartbeatMs);
    this.#ask();
  }

  /**
   * Asks for no more and hands out what the server sends until it has heard so; without that, messages under way would come back
   * only after the consumer's ack wait.
   */
  async drain(): Promise<void> {
    this.#end();
    await this.#subscription.drain().catch(() => undefined); // Rejects on a broken connection, where nothing is under way.
  }

  /** Asks again after `canPull` had returned false. */
  resume(): void {
    this.#heardAt = performance.now();
    this.#askAgain();
  }

  abandon(): void {
    this.#end();
    this.#subscription.unsubscribe();
  }

  #end(): void {
    this.#ended = true;
    clearInterval(this.#watch);
  }

  #lose(reason: string): void {
    if (this.#ended) return;
    this.abandon();
    this.#options.onLost(reason);
  }

  #listenForSilence(): void {
    // Where nothing is asked for, the server has nothing to say.
    if (this.#asked > 0 && performance.now() - this.#heardAt > silenceMs) this.#lose("the server is silent");
  }

  #ask(): void {
    const { nats, apiPrefix, stream, consumer, maxBytes, canPull, expiresMs = defaultExpiresMs } = this.#options;
    if (canPull?.() === false) return;
    const batch = this.#batch - this.#asked;
    this.#asked += batch;
    // The end of a short request is as good as a heartbeat, which the server refuses there.
    const heartbeat = expiresMs >= 2 * heartbeatMs ? { idle_heartbeat: nanos(heartbeatMs) } : {};
    const request = { batch, max_bytes: maxBytes, expires: nanos(expiresMs), ...heartbeat };
    nats.publish(`${apiPrefix}.CONSUMER.MSG.NEXT.${stream}.${consumer}`, JSON.stringify(request), { reply: this.#inbox });
  }

  #onMessage(message: Msg): void {
    this.#heardAt = performance.now();
    if (message.subject === this.#inbox) return this.#onStatus(message);
    this.#asked--;
    this.#options.onMessage(new StreamMessage(message));
    this.#askAgain();
  }

  #onStatus(message: Msg): void {
    switch (message.headers?.code) {
      case 100:
        return; // Idle heartbeat.
      case 404:
      case 408:
        return this.#endRequest(message.headers);
      case 409:
        if (requestEnds.some((end) => message.headers?.description.startsWith(end))) return this.#endRequest(message.headers);
        return this.#lose(`409 ${message.headers.description}`);
      default:
        return this.#lose(`${message.headers?.code} ${message.headers?.description}`);
    }
  }

  /** What the request did not bring is not under way any more. */
  #endRequest(headers: MsgHdrs): void {
    this.#asked -= Number(headers.get("Nats-Pending-Messages") || 0);
    this.#askAgain();
  }

  #askAgain(): void {
    if (!this.#ended && this.#asked <= this.#batch * 0.75) this.#ask();
  }

  get #batch(): number {
    const { batch } = this.#options;
    return typeof batch === "number" ? batch : batch();
  }
}
