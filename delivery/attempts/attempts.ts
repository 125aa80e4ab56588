import type { DisabledWebhook } from "../../domain/delivery/webhook-failures.ts";
import type { Span, SpanEnd, Traces } from "../../domain/traces.ts";
import { circuitOf, SendDeliverer } from "../destinations/send.ts";
import { WebhookDeliverer, type Attempted, type Outcome } from "../destinations/webhook.ts";
import type { DeliveryConfig, DeliveryPorts } from "../ports.ts";
import type { Delivery } from "../routing/delivery.ts";
import type { Webhook } from "../routing/routes.ts";
import type { DeliveredSend } from "../routing/sends.ts";
import { AttemptBuffer } from "./attempt-buffer.ts";
import type { FailingWebhooks } from "../destinations/failing-webhooks.ts";
import { WebhookCircuits } from "./webhook-circuits.ts";

type Ports = Pick<DeliveryPorts, "poster" | "mails" | "objects" | "secrets" | "hmac" | "history" | "clock" | "log" | "metrics" | "traces">;

/**
 * Attempts at webhooks, and of sends of workflows: a permit of the circuit, the post, and the records of its outcome. Shared by the
 * deliverers of plain and of ordered webhooks, so that both count towards the same circuits and failures.
 */
export class WebhookAttempts {
  readonly #config: Pick<DeliveryConfig, "nextAttempt">;
  readonly #ports: Ports;
  readonly #circuits: WebhookCircuits;
  readonly #failing: FailingWebhooks;
  readonly #webhooks: WebhookDeliverer;
  readonly #sends: SendDeliverer;
  readonly #buffer: AttemptBuffer;

  constructor(config: Pick<DeliveryConfig, "nextAttempt" | "attemptsPerWebhook">, ports: Ports, failing: FailingWebhooks) {
    this.#config = config;
    this.#ports = ports;
    this.#circuits = new WebhookCircuits(config.attemptsPerWebhook);
    this.#failing = failing;
    this.#webhooks = new WebhookDeliverer(ports);
    this.#sends = new SendDeliverer(ports);
    this.#buffer = new AttemptBuffer(ports, failing);
  }

  /** Why nothing may be posted to the webhook; undefined if it is not disabled. */
  disabled(webhook: Webhook): DisabledWebhook | undefined {
    return this.#failing.disabled(webhook);
  }

  /** Waits for a permit of a webhook or circuit, up to `maxWaitMs` and behind at most `maxWaiting` others. Returns false if there is none by then. */
  async acquire(webhook: string, now: number, maxWaitMs: number, maxWaiting?: number): Promise<boolean> {
    if (this.#circuits.tryAcquire(webhook, now)) return true;
    const giveUp = new AbortController();
    const timer = setTimeout(() => giveUp.abort(), maxWaitMs);
    const acquired = await this.#circuits.acquire(webhook, now, giveUp.signal, maxWaiting);
    clearTimeout(timer);
    return acquired;
  }

  /** Milliseconds after which a delivery that got no permit is due again. */
  postponeMs(webhook: string, now: number): number {
    return this.#circuits.postponeMs(webhook, now);
  }

  /** Makes an attempt and returns its permit. Rejects if the webhook must be disabled and that cannot be stored. */
  async attempt(delivery: Delivery, webhook: Webhook): Promise<Outcome> {
    const attempted = await this.#post(delivery, webhook);
    const { outcome } = attempted;
    this.#circuits.release(webhook.id, outcome.outcome === "delivered", this.#ports.clock.now());
    const recorded = this.#failing.record(delivery, webhook, attempted, this.#circuits.openUntil(webhook.id));
    const disabled = recorded === undefined ? undefined : await recorded;
    this.#buffer.add(delivery, attempted, disabled !== undefined || this.#isLast(delivery, outcome));
    if (disabled === undefined || outcome.outcome !== "retry") return outcome;
    return { outcome: "listener-gone", status: outcome.status, error: disabled.message };
  }

  /** Makes an attempt of a send and returns its permit. */
  async send(delivery: Delivery, kind: DeliveredSend): Promise<Outcome> {
    const workflow = { "workflow.id": delivery.listener };
    const attempted = await this.#make(delivery, workflow, (traceparent) => this.#sends.attempt(delivery, kind, traceparent));
    const { outcome } = attempted;
    this.#circuits.release(circuitOf(delivery, kind), outcome.outcome === "delivered", this.#ports.clock.now());
    this.#buffer.add(delivery, attempted, this.#isLast(delivery, outcome));
    return outcome;
  }

  /** Posts a test event. It needs no permit, counts for nothing and is never retried. */
  async test(delivery: Delivery, webhook: Webhook): Promise<Attempted> {
    const attempted = await this.#post(delivery, webhook);
    this.#buffer.addTest(delivery, attempted);
    return attempted;
  }

  /** Writes the attempts that are not stored yet. */
  stop(): Promise<void> {
    return this.#buffer.stop();
  }

  #post(delivery: Delivery, webhook: Webhook): Promise<Attempted> {
    // Only the host of the URL is an attribute: the rest may be a secret.
    const attributes = {
      "http.request.method": "POST",
      "server.address": this.#ports.traces === undefined ? "" : (URL.parse(webhook.url)?.hostname ?? ""),
      "webhook.id": webhook.id,
    };
    return this.#make(delivery, attributes, (traceparent) => this.#webhooks.attempt(delivery, webhook, traceparent));
  }

  /** @param attributes of the attempt's span */
  async #make(
    delivery: Delivery,
    attributes: Readonly<Record<string, string>>,
    attempt: (traceparent: string | undefined) => Promise<Outcome>,
  ): Promise<Attempted> {
    const at = this.#ports.clock.now();
    const started = performance.now();
    const span = this.#ports.traces && startSpan(this.#ports.traces, delivery, attributes);
    let outcome: Outcome = { outcome: "retry", status: null, error: "the attempt could not be made", retryAfter: undefined };
    try {
      outcome = await attempt(span?.traceparent ?? delivery.event.traceparent);
    } catch (error) {
      this.#ports.log.error({ op: "delivery.attempt", "webhook.id": delivery.listener, err: error }, "an attempt could not be made");
    }
    span?.end(spanEnd(outcome));
    return { outcome, at, durationMs: Math.round(performance.now() - started) };
  }

  #isLast(delivery: Delivery, outcome: Outcome): boolean {
    if (outcome.outcome === "delivered") return false;
    return outcome.outcome === "listener-gone" || this.#config.nextAttempt(attemptsInSchedule(delivery), 0) === undefined;
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

function spanEnd({ outcome, status }: Outcome): SpanEnd {
  return {
    ...(status === null ? {} : { attributes: { "http.response.status_code": status } }),
    error: outcome === "delivered" ? undefined : (status?.toString() ?? "unreachable"),
  };
}
