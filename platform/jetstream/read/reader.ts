import { JetStreamApiError } from "@nats-io/jetstream";
import { backoffMs, retry } from "../../../domain/retry.ts";
import type { Connection } from "../connection/connection.ts";
import type { LinkStatus } from "../connection/link.ts";
import { Pull } from "./pull.ts";
import type { StreamMessage } from "./stream-message.ts";

export interface ReaderOptions {
  readonly connection: Connection;
  readonly stream: string;
  readonly batch: number | (() => number);
  /** As for {@link Pull}. */
  readonly maxBytes?: number | undefined;
  readonly canPull?: (() => boolean) | undefined;
  readonly expiresMs?: number | undefined;
  /** Ensures that the consumer exists and returns its name; called again whenever the pull has ended. */
  readonly open: () => Promise<string>;
  readonly onMessage: (message: StreamMessage) => void;
  /** Called when reading is interrupted and will continue, for logs. */
  readonly onInterrupted?: ((reason: string) => void) | undefined;
}

const reopenDelay = { firstMs: 20, maxMs: 1_000 };
/** A pull that lived this long was healthy: the backoff starts again. */
const healthyAfterMs = 5_000;
const startTimeoutMs = 15_000;

/**
 * Reads from a consumer until stopped: opens it, pulls, and opens it again when the connection, NATS or the consumer is lost.
 *
 *     starting ──▶ reading ──▶ lost ──▶ opening ──▶ reading … ──▶ stopped
 */
export class Reader {
  readonly #options: ReaderOptions;
  #unfollowStatus: (() => void) | undefined;
  #pull: Pull | undefined;
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  #openedAt = 0;
  /** Grows with each attempt to open and with each loss: an outdated attempt changes nothing. */
  #attempt = 0;
  #started = false;
  #stopped = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /** Resolves when reading has begun. @throws the error of `open`, at once if the stream or consumer is missing, otherwise after 15 s */
  async start(): Promise<void> {
    this.#unfollowStatus = this.#options.connection.onStatus((status) => this.#onStatus(status));
    const open = async (): Promise<void> => {
      while (!this.#started && !this.#stopped) await this.#open(); // Again if the connection was lost while it opened.
    };
    try {
      await retry(open, { ...reopenDelay, withinMs: startTimeoutMs, isTransient: (error) => !isFinal(error) });
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Resolves when no more messages will be handed out. */
  async stop(): Promise<void> {
    this.#end();
    if (this.#options.connection.status() === "connected") await this.#pull?.drain();
    else this.#pull?.abandon();
  }

  /** Requests messages again after `canPull` returned false. */
  resume(): void {
    this.#pull?.resume();
  }

  /** Abandons the pull and opens the consumer again. */
  restart(reason: string): void {
    if (this.#stopped || !this.#started) return;
    this.#abandon();
    if (performance.now() - this.#openedAt > healthyAfterMs) this.#failures = 0;
    this.#retry = setTimeout(() => this.#reopen(), this.#nextDelay());
    this.#options.onInterrupted?.(reason);
  }

  #reopen(): void {
    const attempt = this.#attempt + 1;
    this.#open().catch((error: unknown) => {
      if (attempt === this.#attempt) this.restart(error instanceof Error ? error.message : String(error));
    });
  }

  async #open(): Promise<void> {
    const attempt = ++this.#attempt;
    const { connection, stream, batch, maxBytes, canPull, expiresMs, open, onMessage } = this.#options;
    const consumer = await open();
    if (attempt !== this.#attempt || this.#stopped) return;
    this.#openedAt = performance.now();
    this.#started = true;
    this.#pull = new Pull({
      nats: connection.nats,
      inbox: connection.newInbox(),
      apiPrefix: connection.apiPrefix,
      stream,
      consumer,
      batch,
      maxBytes,
      canPull,
      expiresMs,
      onMessage,
      onLost: (reason) => this.restart(reason),
    });
  }

  /** NATS forgets pull requests with the connection, so after a reconnect the reader pulls again at once. */
  #onStatus(status: LinkStatus): void {
    if (status === "closed") return this.#end();
    this.#abandon();
    this.#failures = 0;
    if (status === "connected") this.restart("the connection broke");
  }

  #abandon(): void {
    this.#attempt++;
    clearTimeout(this.#retry);
    this.#pull?.abandon();
    this.#pull = undefined;
  }

  #end(): void {
    this.#stopped = true;
    this.#attempt++;
    this.#unfollowStatus?.();
    clearTimeout(this.#retry);
  }

  #nextDelay(): number {
    return backoffMs(++this.#failures, reopenDelay, Math.random());
  }
}

/** The stream or consumer is missing, or its settings are refused: a retry would not help. */
function isFinal(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.status < 500;
}
