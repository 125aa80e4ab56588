import { nanos, type Msg, type NatsConnection, type Subscription } from "@nats-io/transport-node";
import { StreamMessage } from "./stream-message.ts";

export interface PullOptions {
  readonly nats: NatsConnection;
  readonly inbox: string;
  readonly apiPrefix: string;
  readonly stream: string;
  readonly consumer: string;
  /** Messages asked for ahead of need. */
  readonly batch: number;
  readonly onMessage: (message: StreamMessage) => void;
  /** Once: this pull has ended (consumer gone, server restarting, silence); a new one must be made. */
  readonly onLost: (reason: string) => void;
}

const expiresMs = 10_000;
const heartbeatMs = 2_500;
const silenceMs = 3 * heartbeatMs;

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
    if (performance.now() - this.#heardAt > silenceMs) this.#lose("the server is silent");
  }

  #ask(): void {
    const batch = this.#options.batch - this.#asked;
    this.#asked += batch;
    const request = JSON.stringify({ batch, expires: nanos(expiresMs), idle_heartbeat: nanos(heartbeatMs) });
    this.#options.nats.publish(`${this.#options.apiPrefix}.CONSUMER.MSG.NEXT.${this.#options.stream}.${this.#options.consumer}`, request, {
      reply: this.#inbox,
    });
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
      case 408: {
        // A request has ended; what it did not bring is not under way any more.
        this.#asked -= Number(message.headers.get("Nats-Pending-Messages") || 0);
        return this.#askAgain();
      }
      default:
        return this.#lose(`${message.headers?.code} ${message.headers?.description}`);
    }
  }

  #askAgain(): void {
    if (!this.#ended && this.#asked <= this.#options.batch * 0.75) this.#ask();
  }
}
