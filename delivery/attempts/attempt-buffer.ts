import type { Attempted } from "../deliverers/webhook.ts";
import { dueSince, subjectOf, type Delivery } from "../routing/delivery.ts";
import type { FailingEndpoints } from "./failing-webhooks.ts";
import type { Attempt } from "../record/ports.ts";
import type { DeliveryPorts } from "../ports.ts";

const flushEveryMs = 250;
/** While Postgres is away attempts are remembered up to here; then the oldest are lost, deliveries are not. */
const mostRemembered = 20_000;

/** Writes down attempts, and which endpoints fail, in batches, behind the deliveries' back: a slow Postgres never slows one. */
export class AttemptBuffer {
  readonly #ports: Pick<DeliveryPorts, "history" | "log" | "metrics">;
  readonly #endpoints: Pick<FailingEndpoints, "save">;
  #attempts: Attempt[] = [];
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(ports: Pick<DeliveryPorts, "history" | "log" | "metrics">, endpoints: Pick<FailingEndpoints, "save">) {
    this.#ports = ports;
    this.#endpoints = endpoints;
  }

  add(delivery: Delivery, attempted: Attempted, isLast: boolean): void {
    const { outcome, at, durationMs } = attempted;
    const result = outcome.outcome === "delivered" ? "delivered" : isLast ? "dead" : "retry";
    this.#ports.metrics?.attempted("webhook", result, durationMs);
    if (result === "delivered") this.#ports.metrics?.delivered("webhook", at + durationMs - dueSince(delivery, at));
    this.#remember(delivery, attempted, result);
  }

  /** Of a test: it is shown, and no metric tells of it. */
  addTest(delivery: Delivery, attempted: Attempted): void {
    this.#remember(delivery, attempted, attempted.outcome.outcome === "delivered" ? "delivered" : "dead");
  }

  #remember(delivery: Delivery, { outcome, at, durationMs }: Attempted, result: Attempt["outcome"]): void {
    const { attempt } = delivery;
    const { status } = outcome;
    const error = outcome.outcome === "delivered" ? null : outcome.error;
    this.#attempts.push({ ...subjectOf(delivery), attempt, at, durationMs, outcome: result, status, error });
    this.#ports.log.info(
      {
        op: "delivery.attempt",
        outcome: outcome.outcome,
        status,
        attempt,
        "webhook.id": delivery.listener,
        "source.id": delivery.event.source,
        durationMs,
      },
      "attempt",
    );
    this.#flushSoon();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#flushing;
    await this.#flush();
  }

  #flushSoon(): void {
    if (this.#stopped) return;
    this.#timer ??= setTimeout(() => {
      this.#flushing = this.#flush(); // Never rejects.
    }, flushEveryMs);
  }

  async #flush(): Promise<void> {
    const attempts = this.#attempts;
    this.#attempts = [];
    try {
      if (attempts.length > 0) await this.#ports.history.recordAttempts(attempts);
      await this.#endpoints.save();
    } catch (error) {
      this.#ports.log.warn({ op: "attempt.record", attempts: attempts.length, err: error }, "attempts are not recorded yet");
      this.#attempts = [...attempts, ...this.#attempts].slice(-mostRemembered);
    }
    this.#timer = undefined;
    if (this.#attempts.length > 0) this.#flushSoon();
  }
}
