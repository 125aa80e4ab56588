import type { Log } from "../../domain/log.ts";
import type { Attempted } from "../destinations/destination.ts";
import type { DeliveryMetrics, ListenerKind } from "../destinations/ports.ts";
import type { Attempt, AttemptRecords } from "../record/ports.ts";
import { dueSince, subjectOf, type Delivery } from "../routing/delivery.ts";
import { KeptExchanges } from "./kept-exchanges.ts";

export interface AttemptBufferPorts {
  readonly history: AttemptRecords;
  readonly log: Pick<Log, "info" | "warn">;
  readonly metrics?: DeliveryMetrics;
}

const flushIntervalMs = 250;
/** Bound on attempts that are held while Postgres is away. Beyond it the oldest are lost; deliveries are not. */
const maxBuffered = 20_000;

/** Writes attempts and failures of webhooks to Postgres in batches, in the background, so that a slow Postgres slows no delivery. */
export class AttemptBuffer {
  readonly #ports: AttemptBufferPorts;
  readonly #saveFailures: () => Promise<void>;
  #attempts: Attempt[] = [];
  /** Replaced when a batch was written, so that its bounds are those of all that waits while Postgres is away. */
  #exchanges = new KeptExchanges();
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(ports: AttemptBufferPorts, saveFailures: () => Promise<void>) {
    this.#ports = ports;
    this.#saveFailures = saveFailures;
  }

  add(delivery: Delivery, kind: ListenerKind, attempted: Attempted, isLast: boolean): void {
    const { outcome, at, durationMs } = attempted;
    const result = outcome.outcome === "delivered" ? "delivered" : isLast ? "dead" : "retry";
    this.#ports.metrics?.attempted(kind, result, durationMs);
    // The run may have called `$.send` days before it ended, so a send has no lag.
    if (result === "delivered" && kind !== "send") this.#ports.metrics?.delivered(kind, at + durationMs - dueSince(delivery, at));
    this.#append(delivery, attempted, result);
  }

  /** Attempts of tests are listed, but not counted in metrics. */
  addTest(delivery: Delivery, attempted: Attempted): void {
    this.#append(delivery, attempted, attempted.outcome.outcome === "delivered" ? "delivered" : "dead");
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#flushing;
    await this.#flush();
  }

  #append(delivery: Delivery, { outcome, at, durationMs }: Attempted, result: Attempt["outcome"]): void {
    const { attempt } = delivery;
    const { status } = outcome;
    const error = outcome.outcome === "delivered" ? null : outcome.error;
    this.#attempts.push({
      ...subjectOf(delivery),
      attempt,
      at,
      durationMs,
      outcome: result,
      status,
      error,
      ...this.#kept(delivery, outcome),
    });
    const ids = { "webhook.id": delivery.listener, "source.id": delivery.event.source };
    this.#ports.log.info({ op: "delivery.attempt", outcome: outcome.outcome, status, attempt, ...ids, durationMs }, "attempt");
    this.#flushSoon();
  }

  #kept({ listener, event }: Delivery, { exchange }: Attempted["outcome"]): Pick<Attempt, "exchange"> {
    const kept = exchange && this.#exchanges.keep(listener, event.owner, exchange);
    return kept === undefined ? {} : { exchange: kept };
  }

  #flushSoon(): void {
    if (this.#stopped) return;
    this.#timer ??= setTimeout(() => {
      this.#flushing = this.#flush(); // Never rejects.
    }, flushIntervalMs);
  }

  async #flush(): Promise<void> {
    const attempts = this.#attempts;
    this.#attempts = [];
    try {
      if (attempts.length > 0) await this.#ports.history.recordAttempts(attempts);
      await this.#saveFailures();
      // Those that were added in the meantime are not counted: they had the bounds of this batch.
      this.#exchanges = new KeptExchanges();
    } catch (error) {
      this.#ports.log.warn({ op: "attempt.record", attempts: attempts.length, err: error }, "attempts are not recorded yet, trying again");
      this.#attempts = [...attempts, ...this.#attempts].slice(-maxBuffered);
    }
    this.#timer = undefined;
    if (this.#attempts.length > 0) this.#flushSoon();
  }
}
