import { assertNever, HeadwaterError } from "../domain/errors.ts";
import { parseRetryAfter } from "../domain/retry-schedule.ts";
import type { Route, RouteListener } from "../domain/deployment.ts";
import { attemptEnd, traceAttempt } from "./attempt-trace.ts";
import type { AttemptBuffer } from "./attempt-buffer.ts";
import { deliverToSource } from "./deliverers/source.ts";
import { deliverToWorkflow } from "./deliverers/workflow.ts";
import type { Attempted, Outcome, WebhookDeliverer } from "./deliverers/webhook.ts";
import { encodeDelivery, subjectOf, type Delivery } from "./delivery.ts";
import type { Endpoints } from "./endpoints.ts";
import type { FailingEndpoints } from "./failing-endpoints.ts";
import type { DeliveryConfig, DeliveryPorts } from "./ports.ts";
import type { Routes, Webhook } from "./routes.ts";

/** What is known of endpoints, and how they are posted to. */
export interface Posting {
  readonly endpoints: Endpoints;
  readonly failing: FailingEndpoints;
  readonly webhooks: WebhookDeliverer;
  readonly attempts: AttemptBuffer;
}

/** What waited longer for those of its source before it goes out of line, so that no endpoint keeps the floor of the stream down. */
const longestInLineMs = 5_000;
/** What Postgres must know of is attempted again after that long while Postgres is away. */
const withoutDatabaseMs = 5_000;

/** Due deliveries that wait for a place at one endpoint: less than are handed out at once, so that no endpoint keeps those of others. */
const mostDueWaiting = 500;

/** Attempts deliveries and settles what came of them. */
export class Deliverer {
  readonly #config: DeliveryConfig;
  readonly #ports: DeliveryPorts;
  readonly #endpoints: Endpoints;
  readonly #failing: FailingEndpoints;
  readonly #webhooks: WebhookDeliverer;
  readonly #attempts: AttemptBuffer;
  readonly #underWay = new Set<Promise<void>>();
  /** An attempt that could not be settled is settled again, and not made again. */
  readonly #made = new WeakMap<Delivery, Promise<Outcome>>();

  constructor(config: DeliveryConfig, ports: DeliveryPorts, { endpoints, failing, webhooks, attempts }: Posting) {
    this.#config = config;
    this.#ports = ports;
    this.#endpoints = endpoints;
    this.#failing = failing;
    this.#webhooks = webhooks;
    this.#attempts = attempts;
  }

  /**
   * The first attempt, straight from the run. Resolves when the delivery needs its commit no more: delivered, or, after a
   * failure or when patience runs out, a message of its own. An attempt that outlives the patience goes on; when it still succeeds, the message is withdrawn.
   *
   * @param waitedMs behind those of the same source and listener
   */
  async direct(delivery: Delivery, { listener }: Route, waitedMs: number): Promise<void> {
    if (listener.kind !== "webhook") return this.#inside(delivery, listener);
    return this.#evenWithoutDatabase(delivery, () => this.#directly(delivery, listener, waitedMs));
  }

  async #directly(delivery: Delivery, listener: Webhook, waitedMs: number): Promise<void> {
    const made = this.#made.get(delivery);
    if (made !== undefined) return this.#settleInTime(delivery, made);
    const disabled = this.#failing.disabled(listener);
    if (disabled !== undefined) return this.#leaveUnposted(delivery, disabled.message);
    const now = this.#ports.clock.now();
    const hasPlace =
      waitedMs <= longestInLineMs && (this.#endpoints.tryEnter(listener.id, now) || (await this.#waitForPlace(listener.id, now)));
    if (hasPlace) return this.#settleInTime(delivery, this.#attempt(delivery, listener));
    return this.later(delivery, now + this.#endpoints.againAfterMs(listener.id, now));
  }

  /** Where nothing is attempted: what is written is delivered. */
  #inside(delivery: Delivery, listener: Exclude<RouteListener, Webhook>): Promise<void> {
    switch (listener.kind) {
      case "source":
        return deliverToSource(delivery, listener.pool, this.#ports);
      case "workflow":
        return deliverToWorkflow(delivery, this.#ports);
      default:
        return assertNever(listener);
    }
  }

  async #waitForPlace(webhook: string, now: number, most?: number): Promise<boolean> {
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), this.#config.patienceMs);
    const entered = await this.#endpoints.enter(webhook, now, patience.signal, most);
    clearTimeout(timer);
    return entered;
  }

  /** What is still under way when the patience ends has its next attempt written, and is settled late. */
  async #settleInTime(delivery: Delivery, attempt: Promise<Outcome>): Promise<void> {
    const { patienceMs, attemptTimeoutMs } = this.#config;
    const impatience = Promise.withResolvers<"impatient">();
    const timer = setTimeout(impatience.resolve, patienceMs, "impatient");
    const first = await Promise.race([attempt, impatience.promise]);
    clearTimeout(timer);
    if (first !== "impatient") return this.#settle(delivery, first);
    await this.#retryLater(delivery, attemptTimeoutMs - patienceMs);
    this.#inBackground(attempt.then((outcome) => this.#settleLate(delivery, outcome)));
  }

  /** Its next attempt is a message already: that is right but when it is not wanted any more, or was asked to come later. */
  async #settleLate(delivery: Delivery, outcome: Outcome): Promise<void> {
    if (outcome.outcome === "retry") return outcome.retryAfter === undefined ? undefined : this.#settle(delivery, outcome);
    await this.#settle(delivery, outcome);
    await this.#ports.deliveries.withdraw(delivery.listener, delivery.id);
  }

  /** Makes it a message of its own: this attempt, due at that time. */
  later(delivery: Delivery, atMs: number): Promise<void> {
    return this.#ports.deliveries.schedule(
      delivery.listener,
      delivery.id,
      encodeDelivery(delivery),
      atMs,
      `${delivery.id}#${delivery.attempt}@${atMs}`,
    );
  }

  /** A delivery that is due. Resolves when its message may be acked. */
  due(delivery: Delivery, routes: Routes): Promise<void> {
    return this.#evenWithoutDatabase(delivery, () => this.#due(delivery, routes));
  }

  /** What can only be settled in Postgres comes again: nothing else waits for it meanwhile. */
  async #evenWithoutDatabase(delivery: Delivery, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof HeadwaterError) || error.code !== "database_unavailable") throw error;
      await this.later(delivery, this.#ports.clock.now() + Math.round(withoutDatabaseMs * (1 + this.#ports.random())));
    }
  }

  async #due(delivery: Delivery, routes: Routes): Promise<void> {
    const made = this.#made.get(delivery);
    if (made !== undefined) return this.#settle(delivery, await made);
    const webhook = routes.webhook(delivery.listener);
    // Whoever asks for it again asks for the webhook, whatever became of the subscription.
    const listener = delivery.attemptsBefore === undefined ? routes.find(delivery.subscription)?.listener : webhook;
    const disabled = webhook === undefined ? undefined : this.#failing.disabled(webhook);
    if (disabled !== undefined) return this.#leaveUnposted(delivery, disabled.message);
    if (webhook?.keys.length === 0) return this.#leaveUnposted(delivery, "nothing could be posted to the webhook");
    if (listener === undefined) return; // The subscription or its listener was deleted.
    if (listener.kind !== "webhook") return this.#inside(delivery, listener);
    const now = this.#ports.clock.now();
    if (!(this.#endpoints.tryEnter(listener.id, now) || (await this.#waitForPlace(listener.id, now, mostDueWaiting))))
      return this.later(delivery, now + this.#endpoints.againAfterMs(listener.id, now));
    await this.#settle(delivery, await this.#attempt(delivery, listener));
  }

  /** Posts an event that is no delivery: it asks for no place and is never tried again. */
  async test(delivery: Delivery, webhook: Webhook): Promise<Attempted> {
    const attempted = await this.#post(delivery, webhook);
    this.#attempts.addTest(delivery, attempted);
    return attempted;
  }

  /** Waits for attempts that outlived their patience. */
  async drain(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  /** With a place, which it gives back. What cannot be told to the end is made again. */
  #attempt(delivery: Delivery, webhook: Webhook): Promise<Outcome> {
    const attempt = this.#attemptAndTell(delivery, webhook);
    this.#made.set(delivery, attempt);
    attempt.catch(() => this.#made.delete(delivery));
    return attempt;
  }

  async #attemptAndTell(delivery: Delivery, webhook: Webhook): Promise<Outcome> {
    const attempted = await this.#post(delivery, webhook);
    const { outcome } = attempted;
    this.#endpoints.leave(webhook.id, outcome.outcome === "delivered", this.#ports.clock.now());
    const disabled = await this.#failing.remember(delivery, webhook, attempted);
    this.#attempts.add(delivery, attempted, disabled !== undefined || this.#isLast(delivery, outcome));
    if (disabled === undefined || outcome.outcome !== "retry") return outcome;
    return { outcome: "listener-gone", status: outcome.status, error: disabled.message };
  }

  async #post(delivery: Delivery, webhook: Webhook): Promise<Attempted> {
    const at = this.#ports.clock.now();
    const started = performance.now();
    const span = this.#ports.traces && traceAttempt(this.#ports.traces, delivery, webhook);
    let outcome: Outcome = {
      outcome: "retry",
      status: null,
      error: "the attempt could not be made",
      retryAfter: undefined,
    };
    try {
      outcome = await this.#webhooks.attempt(delivery, webhook, span?.traceparent ?? delivery.event.traceparent);
    } catch (error) {
      this.#ports.log.error({ op: "delivery.attempt", "webhook.id": webhook.id, err: error }, "an attempt could not be made");
    }
    span?.end(attemptEnd(outcome));
    return { outcome, at, durationMs: Math.round(performance.now() - started) };
  }

  #isLast(delivery: Delivery, outcome: Outcome): boolean {
    return outcome.outcome === "listener-gone" || this.#config.nextAttempt(triesOf(delivery), 0) === undefined;
  }

  async #settle(delivery: Delivery, outcome: Outcome): Promise<void> {
    switch (outcome.outcome) {
      case "delivered":
        return;
      case "retry":
        return this.#retryLater(delivery, 0, outcome);
      case "listener-gone":
        return this.#bury(delivery, outcome.error);
    }
  }

  async #retryLater(delivery: Delivery, afterMs: number, outcome?: Extract<Outcome, { outcome: "retry" }>): Promise<void> {
    const now = this.#ports.clock.now();
    const retryAfterMs = outcome?.retryAfter === undefined ? undefined : parseRetryAfter(outcome.retryAfter, now);
    const delayMs = this.#config.nextAttempt(triesOf(delivery), this.#ports.random(), retryAfterMs);
    if (delayMs === undefined) return this.#bury(delivery, outcome?.error ?? "the endpoint did not answer in time");
    await this.later({ ...delivery, attempt: delivery.attempt + 1 }, now + afterMs + delayMs);
  }

  /** This attempt is not made. */
  #leaveUnposted(delivery: Delivery, reason: string): Promise<void> {
    return this.#bury({ ...delivery, attempt: delivery.attempt - 1 }, reason);
  }

  #bury(delivery: Delivery, reason: string): Promise<void> {
    const letter = {
      ...subjectOf(delivery),
      attempts: delivery.attempt,
      reason,
      diedAt: this.#ports.clock.now(),
      payload: delivery.event.payload,
    };
    return this.#ports.history.recordDeadLetters([letter]);
  }

  #inBackground(work: Promise<void>): void {
    const logged = work.catch((error: unknown) =>
      this.#ports.log.warn({ op: "delivery.withdraw", err: error }, "a delivery that succeeded late may be repeated"),
    );
    this.#underWay.add(logged);
    void logged.then(() => this.#underWay.delete(logged)); // Never rejects.
  }
}

/** Attempts that count for the waits. */
const triesOf = ({ attempt, attemptsBefore = 0 }: Delivery): number => attempt - attemptsBefore;
