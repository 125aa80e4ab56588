import { assertNever, HeadwaterError } from "../../domain/errors.ts";
import { kindOfId } from "../../domain/ids.ts";
import { parseRetryAfter } from "../../domain/delivery/retry-schedule.ts";
import type { Route, RouteListener } from "../../domain/source/deployment.ts";
import { attemptEnd, traceAttempt } from "./attempt-trace.ts";
import type { AttemptBuffer } from "./attempt-buffer.ts";
import { deliverToSource } from "../deliverers/source.ts";
import { deliverToWorkflow } from "../deliverers/workflow.ts";
import type { Attempted, Outcome, WebhookDeliverer } from "../deliverers/webhook.ts";
import { deadLetter } from "../record/dead-letter.ts";
import { encodeDelivery, type Delivery } from "../routing/delivery.ts";
import type { Endpoints } from "./webhook-circuits.ts";
import type { FailingEndpoints } from "./failing-webhooks.ts";
import { LateAttempts } from "./late-attempts.ts";
import { RescheduleSlots } from "./reschedule-slots.ts";
import { Patience } from "./shared-timeout.ts";
import type { DeliveryConfig, DeliveryPorts } from "../ports.ts";
import { RetryCapacity } from "./retry-capacity.ts";
import type { Routes, Webhook } from "../routing/routes.ts";

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

const noRoom = "too many bytes of this owner's deliveries wait for a later attempt, and their store is full";

/** Attempts deliveries and settles what came of them. */
export class Deliverer {
  readonly #config: DeliveryConfig;
  readonly #ports: DeliveryPorts;
  readonly #endpoints: Endpoints;
  readonly #failing: FailingEndpoints;
  readonly #webhooks: WebhookDeliverer;
  readonly #attempts: AttemptBuffer;
  readonly #patience: Patience;
  readonly #underWay = new Set<Promise<void>>();
  /** Attempts that could not be settled: they are settled again, and not made again. */
  readonly #made = new WeakMap<Delivery, Promise<Outcome>>();
  readonly #late = new LateAttempts();
  readonly #room: RetryCapacity;
  readonly #backlogSlots = new RescheduleSlots();

  constructor(config: DeliveryConfig, ports: DeliveryPorts, { endpoints, failing, webhooks, attempts }: Posting) {
    this.#config = config;
    this.#ports = ports;
    this.#endpoints = endpoints;
    this.#failing = failing;
    this.#webhooks = webhooks;
    this.#attempts = attempts;
    this.#patience = new Patience(config.deliveryDeadlineMs);
    this.#room = new RetryCapacity(() => ports.deliveries.usage?.());
  }

  /**
   * The first attempt, straight from the run. Resolves when the delivery needs its commit no more: delivered, or, after a
   * failure or when patience runs out, a message of its own. An attempt that outlives the patience goes on; when it still succeeds, the message is withdrawn.
   *
   * @param waitedMs behind those of the same source and listener
   */
  async direct(delivery: Delivery, { owner, listener }: Route, waitedMs: number): Promise<void> {
    if (listener.kind !== "webhook") return this.#inside(delivery, owner, listener);
    try {
      const made = this.#made.get(delivery);
      if (made !== undefined) return await this.#settleMade(delivery, made, this.#patience);
      const disabled = this.#failing.disabled(listener);
      if (disabled !== undefined) return await this.#leaveUnposted(delivery, disabled.message);
      if (waitedMs > longestInLineMs) return await this.#putOff(delivery, listener);
      await this.#attemptOrPutOff(delivery, listener, this.#patience);
    } catch (error) {
      await this.#comeAgain(delivery, error);
    }
  }

  /** A delivery that is due. Resolves when its message may be acked. */
  async due(delivery: Delivery, routes: Routes): Promise<void> {
    this.#room.removed(delivery);
    try {
      const made = this.#made.get(delivery);
      if (made !== undefined) return await this.#settleMade(delivery, made);
      if (await this.#late.makesNeedless(delivery)) return;
      const webhook = routes.webhook(delivery.listener);
      // Whoever asks for it again asks for the webhook, whatever became of the subscription.
      const route = routes.find(delivery.subscription);
      const listener = delivery.attemptsBefore === undefined ? route?.listener : webhook;
      const disabled = webhook === undefined ? undefined : this.#failing.disabled(webhook);
      if (disabled !== undefined) return await this.#leaveUnposted(delivery, disabled.message);
      if (webhook?.keys.length === 0) return await this.#leaveUnposted(delivery, "nothing could be posted to the webhook");
      if (listener === undefined) return; // The subscription or its listener was deleted.
      if (listener.kind !== "webhook") return await this.#inside(delivery, route?.owner ?? "", listener);
      await this.#attemptOrPutOff(delivery, listener);
    } catch (error) {
      await this.#comeAgain(delivery, error);
    }
  }

  /** It can neither be attempted nor stored for later, because of what it is. Resolves when it is a dead letter of its webhook. */
  async abandon(delivery: Delivery, error: Error): Promise<void> {
    this.#made.delete(delivery);
    if (kindOfId(delivery.listener) === "webhook") await this.#bury(delivery, `it cannot be stored for a later attempt: ${error.message}`);
  }

  /** Makes it a message of its own: this attempt, due at that time. Where the store has no room for more of its owner's, it becomes a dead letter. */
  async later(delivery: Delivery, atMs: number): Promise<void> {
    if (kindOfId(delivery.listener) === "webhook" && !this.#room.hasRoomFor(delivery)) return this.#leaveUnposted(delivery, noRoom);
    await this.#ports.deliveries.schedule(
      delivery.listener,
      delivery.id,
      encodeDelivery(delivery),
      atMs,
      `${delivery.id}#${delivery.attempt}@${atMs}`,
    );
    this.#room.stored(delivery);
  }

  /** Deliveries to sources and workflows need no HTTP attempt: storing the message delivers it. */
  #inside(delivery: Delivery, owner: string, listener: Exclude<RouteListener, Webhook>): Promise<void> {
    switch (listener.kind) {
      case "source":
        return this.#toSource(delivery, owner, listener);
      case "workflow":
        return deliverToWorkflow(delivery, this.#ports);
      default:
        return assertNever(listener);
    }
  }

  async #toSource(delivery: Delivery, owner: string, listener: Extract<RouteListener, { kind: "source" }>): Promise<void> {
    const delivered = await deliverToSource(delivery, { owner, listener }, this.#ports);
    if (delivered === "backlog_full") await this.later(delivery, this.#backlogSlots.next(owner, this.#ports.clock.now()));
  }

  /** What is due has no patience, but nothing else may wait for it long: it waits for a place behind fewer. */
  async #attemptOrPutOff(delivery: Delivery, webhook: Webhook, patience?: Patience): Promise<void> {
    const now = this.#ports.clock.now();
    const most = patience === undefined ? mostDueWaiting : undefined;
    if (!this.#endpoints.tryEnter(webhook.id, now) && !(await this.#waitForPlace(webhook.id, now, most)))
      return this.#putOff(delivery, webhook, now);
    await this.#settleMade(delivery, this.#attempt(delivery, webhook), patience);
  }

  async #waitForPlace(webhook: string, now: number, most?: number): Promise<boolean> {
    const giveUp = new AbortController();
    const timer = setTimeout(() => giveUp.abort(), this.#patience.ms);
    const entered = await this.#endpoints.enter(webhook, now, giveUp.signal, most);
    clearTimeout(timer);
    return entered;
  }

  #putOff(delivery: Delivery, { id }: Webhook, now = this.#ports.clock.now()): Promise<void> {
    return this.later(delivery, now + this.#endpoints.againAfterMs(id, now));
  }

  /** What is still under way when the patience ends has its next attempt written meanwhile, and is settled when it ends. */
  async #settleMade(delivery: Delivery, attempt: Promise<Outcome>, patience?: Patience): Promise<void> {
    const outcome = await (patience === undefined ? attempt : patience.of(attempt));
    try {
      if (outcome !== undefined) return await this.#settle(delivery, outcome, false);
      await this.#retryLater(delivery, this.#config.attemptTimeoutMs - this.#patience.ms);
      this.#inBackground(this.#late.add(delivery, this.#settleLate(delivery, attempt)));
    } catch (error) {
      this.#made.set(delivery, attempt);
      attempt.catch(() => this.#made.delete(delivery));
      throw error;
    }
  }

  async #settleLate(delivery: Delivery, attempt: Promise<Outcome>): Promise<Outcome> {
    const outcome = await attempt;
    await this.#settle(delivery, outcome, true);
    return outcome;
  }

  /** What can only be settled in Postgres comes again: nothing else waits for it meanwhile. */
  async #comeAgain(delivery: Delivery, error: unknown): Promise<void> {
    if (!(error instanceof HeadwaterError) || error.code !== "database_unavailable") throw error;
    await this.later(delivery, this.#ports.clock.now() + Math.round(withoutDatabaseMs * (1 + this.#ports.random())));
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

  /** With a place, which it gives back. Rejected, it could not be told to the end, and is made again. */
  async #attempt(delivery: Delivery, webhook: Webhook): Promise<Outcome> {
    const attempted = await this.#post(delivery, webhook);
    const { outcome } = attempted;
    this.#endpoints.leave(webhook.id, outcome.outcome === "delivered", this.#ports.clock.now());
    const remembered = this.#failing.remember(delivery, webhook, attempted);
    const disabled = remembered === undefined ? undefined : await remembered;
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
    if (outcome.outcome === "delivered") return false;
    return outcome.outcome === "listener-gone" || this.#config.nextAttempt(triesOf(delivery), 0) === undefined;
  }

  /**
   * @param isWritten its next attempt is a message already: that is right but when it is not wanted any more, or was asked to come
   * at another time
   */
  async #settle(delivery: Delivery, outcome: Outcome, isWritten: boolean): Promise<void> {
    switch (outcome.outcome) {
      case "delivered":
        break;
      case "retry":
        if (!isWritten || outcome.retryAfter !== undefined) await this.#retryLater(delivery, 0, outcome);
        return;
      case "listener-gone":
        await this.#bury(delivery, outcome.error);
        break;
      default:
        return assertNever(outcome);
    }
    if (!isWritten) return;
    await this.#ports.deliveries.withdraw(delivery.listener, delivery.id);
    this.#room.removed(delivery);
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
    return this.#ports.history.recordDeadLetters([deadLetter(delivery, reason, this.#ports.clock.now())]);
  }

  #inBackground(work: Promise<unknown>): void {
    const logged = work.then(
      () => undefined,
      (error: unknown) => this.#ports.log.warn({ op: "delivery.withdraw", err: error }, "a delivery that succeeded late may be repeated"),
    );
    this.#underWay.add(logged);
    void logged.then(() => this.#underWay.delete(logged)); // Never rejects.
  }
}

/** Attempts that count for the waits. */
const triesOf = ({ attempt, attemptsBefore = 0 }: Delivery): number => attempt - attemptsBefore;
