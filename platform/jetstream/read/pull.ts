import { nanos, type Msg, type MsgHdrs, type Subscription } from "@nats-io/transport-node";
import type { Nats } from "../connection/link.ts";
import { StreamMessage } from "./stream-message.ts";

export interface PullOptions {
  readonly nats: Nats;
  readonly inbox: string;
  readonly apiPrefix: string;
  readonly stream: string;
  readonly consumer: string;
  /** Messages requested in advance. */
  readonly batch: number | (() => number);
  /** Bound on bytes of one pull request: at least the largest message. Absent: no bound. */
  readonly maxBytes?: number | undefined;
  /** Life of a pull request. NATS delivers to it while this process stands still, so a shorter one delays fewer messages by the ack wait. */
  readonly expiresMs?: number | undefined;
  /** While this returns false no messages are requested, until {@link Pull.resume}. Absent: always true. */
  readonly canPull?: (() => boolean) | undefined;
  readonly onMessage: (message: StreamMessage) => void;
  /** Called once, when this pull has ended (consumer deleted, server restarting, silence) and must be replaced. */
  readonly onLost: (reason: string) => void;
}

const defaultExpiresMs = 10_000;
const heartbeatMs = 2_500;
const silenceMs = 3 * heartbeatMs;
/** Status of a request with `max_bytes` that has ended: the next message does not fit, or all messages were delivered. */
const requestEnds = ["Message Size Exceeds MaxBytes", "Batch Completed"];

/** Pulls the messages of a consumer over one inbox until something breaks it. It does not recover: the {@link Reader} replaces it. */
export class Pull {
  readonly #options: PullOptions;
  readonly #inbox: string;
  readonly #subscription: Subscription;
  readonly #watch: NodeJS.Timeout;
  #requested = 0;
  #lastMessageAt = performance.now();
  #ended = false;

  constructor(options: PullOptions) {
    this.#options = options;
    this.#inbox = options.inbox;
    this.#subscription = options.nats.subscribe(this.#inbox, {
      callback: (error, message) => (error === null ? this.#onMessage(message) : this.#lose(error.message)),
    });
    this.#watch = setInterval(() => this.#checkSilence(), heartbeatMs);
    this.#request();
  }

  /**
   * Requests no more messages, and hands out those that NATS sends until it has processed the unsubscription. Otherwise NATS would redeliver
   * them only after the consumer's ack wait.
   */
  async drain(): Promise<void> {
    this.#end();
    await this.#subscription.drain().catch(() => undefined); // Rejects on a broken connection, which delivers nothing.
  }

  /** Requests messages again after `canPull` returned false. */
  resume(): void {
    this.#lastMessageAt = performance.now();
    this.#requestMore();
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

  #checkSilence(): void {
    // Without an open request NATS sends nothing.
    if (this.#requested > 0 && performance.now() - this.#lastMessageAt > silenceMs) this.#lose("NATS is silent");
  }

  #request(): void {
    const { nats, apiPrefix, stream, consumer, maxBytes, canPull, expiresMs = defaultExpiresMs } = this.#options;
    if (canPull?.() === false) return;
    const batch = this.#batch - this.#requested;
    this.#requested += batch;
    // NATS refuses heartbeats for short requests; their end serves as one.
    const heartbeat = expiresMs >= 2 * heartbeatMs ? { idle_heartbeat: nanos(heartbeatMs) } : {};
    const request = { batch, max_bytes: maxBytes, expires: nanos(expiresMs), ...heartbeat };
    nats.publish(`${apiPrefix}.CONSUMER.MSG.NEXT.${stream}.${consumer}`, JSON.stringify(request), { reply: this.#inbox });
  }

  #onMessage(message: Msg): void {
    this.#lastMessageAt = performance.now();
    if (message.subject === this.#inbox) return this.#onStatus(message);
    this.#requested--;
    this.#options.onMessage(new StreamMessage(message));
    this.#requestMore();
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

  /** Messages that the request did not deliver are no longer requested. */
  #endRequest(headers: MsgHdrs): void {
    this.#requested -= Number(headers.get("Nats-Pending-Messages") || 0);
    this.#requestMore();
  }

  #requestMore(): void {
    if (!this.#ended && this.#requested <= this.#batch * 0.75) this.#request();
  }

  get #batch(): number {
    const { batch } = this.#options;
    return typeof batch === "number" ? batch : batch();
  }
}
