import type { Clock } from "../../domain/clock.ts";
import type { Log } from "../../domain/log.ts";
import type { Span, SpanEnd, Traces } from "../../domain/traces.ts";
import type { Attempted, ExternalDestination, ExternalOutcome } from "../destinations/destination.ts";
import type { Delivery } from "../routing/delivery.ts";
import { AttemptBuffer, type AttemptBufferPorts } from "./attempt-buffer.ts";
import type { RetrySchedule } from "./ports.ts";
import { WebhookCircuits } from "./webhook-circuits.ts";

export interface AttemptsConfig {
  readonly nextAttempt: RetrySchedule;
  /** Bound on concurrent attempts at one webhook. */
  readonly attemptsPerWebhook: number;
}

export interface AttemptsPorts extends AttemptBufferPorts {
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "warn" | "error">;
  /** Absent if tracing is off. */
  readonly traces?: Traces | undefined;
}

/** For example because a signing key could not be opened. */
const notMade: ExternalOutcome = { outcome: "retry", status: null, error: "the attempt could not be made", retryAfter: undefined };

/**
 * Attempts at external destinations: a permit of the circuit, the attempt, and the records of its outcome. Plain and ordered webhooks share
 * it, so that both count towards the same circuits and failures.
 */
export class Attempts {
  readonly #nextAttempt: RetrySchedule;
  readonly #ports: AttemptsPorts;
  readonly #circuits: WebhookCircuits;
  readonly #buffer: AttemptBuffer;

  /** @param saveFailures stores which webhooks fail; called with each batch of attempts */
  constructor({ nextAttempt, attemptsPerWebhook }: AttemptsConfig, ports: AttemptsPorts, saveFailures: () => Promise<void>) {
    this.#nextAttempt = nextAttempt;
    this.#ports = ports;
    this.#circuits = new WebhookCircuits(attemptsPerWebhook);
    this.#buffer = new AttemptBuffer(ports, saveFailures);
  }

  /** Waits for a permit of a circuit, up to `maxWaitMs` and behind at most `maxWaiting` others. Returns false if there is none by then. */
  async acquire(circuit: string, now: number, maxWaitMs: number, maxWaiting?: number): Promise<boolean> {
    if (this.#circuits.tryAcquire(circuit, now)) return true;
    const giveUp = new AbortController();
    const timer = setTimeout(() => giveUp.abort(), maxWaitMs);
    const acquired = await this.#circuits.acquire(circuit, now, giveUp.signal, maxWaiting);
    clearTimeout(timer);
    return acquired;
  }

  /** Milliseconds after which a delivery that got no permit is due again. */
  postponeMs(circuit: string, now: number): number {
    return this.#circuits.postponeMs(circuit, now);
  }

  /** Makes an attempt and returns its permit. Rejects if the destination accepts nothing more and that cannot be stored. */
  async attempt(delivery: Delivery, destination: ExternalDestination): Promise<ExternalOutcome> {
    const attempted = await this.#make(delivery, destination);
    const { outcome } = attempted;
    const { circuit, kind } = destination;
    this.#circuits.release(circuit, outcome.outcome === "delivered", this.#ports.clock.now());
    const recording = destination.onAttempted?.(delivery, attempted, this.#circuits.openUntil(circuit));
    const refusal = recording === undefined ? undefined : await recording;
    this.#buffer.add(delivery, kind, attempted, refusal !== undefined || this.#isLast(delivery, outcome));
    if (refusal === undefined || outcome.outcome !== "retry") return outcome;
    return { outcome: "listener_gone", status: outcome.status, error: refusal };
  }

  /** Makes an attempt of a test event. It needs no permit, counts for nothing and is never retried. */
  async test(delivery: Delivery, destination: ExternalDestination): Promise<Attempted> {
    const attempted = await this.#make(delivery, destination);
    this.#buffer.addTest(delivery, attempted);
    return attempted;
  }

  /** Writes the attempts that are not stored yet. */
  stop(): Promise<void> {
    return this.#buffer.stop();
  }

  /** Never rejects, so that the attempt returns its permit and ends its span. */
  async #make(delivery: Delivery, destination: ExternalDestination): Promise<Attempted> {
    const at = this.#ports.clock.now();
    const started = performance.now();
    const span = this.#ports.traces && startSpan(this.#ports.traces, delivery, destination.spanAttributes());
    let outcome: ExternalOutcome = notMade;
    try {
      outcome = await destination.attempt(delivery, span?.traceparent ?? delivery.event.traceparent);
    } catch (error) {
      this.#ports.log.error({ op: "delivery.attempt", "webhook.id": delivery.listener, err: error }, "an attempt could not be made");
    }
    span?.end(spanEnd(outcome));
    return { outcome, at, durationMs: Math.round(performance.now() - started) };
  }

  #isLast(delivery: Delivery, { outcome }: ExternalOutcome): boolean {
    if (outcome === "delivered") return false;
    return outcome === "listener_gone" || this.#nextAttempt(attemptsInSchedule(delivery), 0) === undefined;
  }
}

/** Number of this attempt in the retry schedule, which starts again with a redelivery. */
export const attemptsInSchedule = ({ attempt, attemptsBefore = 0 }: Delivery): number => attempt - attemptsBefore;

/** Child of the span of the event's commit. */
function startSpan(traces: Traces, { id, attempt, event }: Delivery, attributes: Readonly<Record<string, string>>): Span {
  return traces.start("delivery.attempt", {
    kind: "client",
    traceparent: event.traceparent,
    attributes: {
      ...attributes,
      "source.id": event.source,
      "owner.id": event.owner,
      "delivery.id": id,
      attempt,
    },
  });
}

function spanEnd({ outcome, status }: ExternalOutcome): SpanEnd {
  return {
    ...(status === null ? {} : { attributes: { "http.response.status_code": status } }),
    error: outcome === "delivered" ? undefined : (status?.toString() ?? "unreachable"),
  };
}
