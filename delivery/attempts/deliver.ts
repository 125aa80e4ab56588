import { parseRetryAfter } from "../../domain/delivery/retry-schedule.ts";
import { assertNever, HeadwaterError, Invariant } from "../../domain/errors.ts";
import type { Route, RouteListener } from "../../domain/source/deployment.ts";
import { deliverAsInvocation } from "../destinations/invocation.ts";
import { circuitOf } from "../destinations/send.ts";
import type { Outcome } from "../destinations/webhook.ts";
import type { WorkflowQueues } from "../destinations/workflow-queues.ts";
import type { DeliveryConfig, DeliveryPorts } from "../ports.ts";
import { encodeDelivery, type Delivery } from "../routing/delivery.ts";
import { PendingWork } from "../settle.ts";
import type { Routes, Webhook } from "../routing/routes.ts";
import { sendKindOf, type DeliveredSend } from "../routing/sends.ts";
import { becomesDeadLetter, Discards, type Settled } from "./discards.ts";
import { deliveryBytes, DuePlaces } from "./due-places.ts";
import { LateAttempts } from "./late-attempts.ts";
import { RescheduleSlots } from "./reschedule-slots.ts";
import { RetryCapacity } from "./retry-capacity.ts";
import { SharedTimeout } from "./shared-timeout.ts";
import { attemptsInSchedule, type WebhookAttempts } from "./attempts.ts";

/** A first attempt that waited longer behind others of its source is postponed, so that no webhook holds back the floor of RUNS. */
const maxChainWaitMs = 5_000;
/** Base of the delay after which a delivery that only Postgres can settle is due again. */
const databaseRetryMs = 5_000;
/** Bound on due deliveries that wait for a permit of one webhook: fewer than an owner has places, so that others of the owner get some. */
const maxDueWaiting = 500;

/** First attempts that are slower than the deadline, by owner. Beyond, further deliveries are scheduled, and attempted in the owner's places. */
const maxLate = 128;

const noCapacity = "too many bytes of this owner's deliveries wait for a later attempt, and the stream DELIVERIES is full";

/** What an attempt needs a permit of: a webhook, or the circuit of a send. */
interface Target {
  readonly id: string;
  readonly attempt: () => Promise<Outcome>;
}

/**
 * Attempts deliveries and settles them:
 *
 *   first attempt ─┬─ delivered ────────────────────────────────────────▶ done
 *   due attempt  ──┼─ failed, no permit, or slower than the deadline ───▶ scheduled in DELIVERIES
 *                  ├─ due, and its owner's places are taken ────────────▶ scheduled in DELIVERIES, without counting an attempt
 *                  └─ gone, disabled, last attempt, or no capacity ─────▶ dead letter in Postgres
 */
export class Deliverer {
  readonly #config: Pick<DeliveryConfig, "nextAttempt" | "attemptTimeoutMs">;
  readonly #ports: DeliveryPorts;
  readonly #attempts: WebhookAttempts;
  readonly #workflows: Pick<WorkflowQueues, "directRoute" | "store"> | undefined;
  readonly #deadline: SharedTimeout;
  readonly #background = new PendingWork();
  /** Attempts whose outcome could not be settled. They are settled again, not made again. */
  readonly #unsettled = new WeakMap<Delivery, Promise<Outcome>>();
  readonly #late = new LateAttempts();
  readonly #discards: Discards;
  readonly #capacity: RetryCapacity;
  readonly #backlogSlots = new RescheduleSlots();
  readonly #places = new DuePlaces();
  readonly #placeSlots = new RescheduleSlots();

  /** @param workflows absent for deliveries to webhooks only */
  constructor(
    config: DeliveryConfig,
    ports: DeliveryPorts,
    attempts: WebhookAttempts,
    workflows?: Pick<WorkflowQueues, "directRoute" | "store">,
  ) {
    this.#config = config;
    this.#ports = ports;
    this.#attempts = attempts;
    this.#workflows = workflows;
    this.#discards = new Discards(ports);
    this.#deadline = new SharedTimeout(config.deliveryDeadlineMs);
    this.#capacity = new RetryCapacity(() => ports.deliveries.usage?.());
  }

  /**
   * Makes the first attempt, straight from the run. Resolves once the delivery no longer needs its commit: it is delivered, or stored
   * after a failure or at the deadline. An attempt that takes longer continues; if it succeeds, the stored message is withdrawn.
   *
   * @param waitedMs time that the delivery waited behind others of the same source and listener
   */
  async attemptFirst(delivery: Delivery, { owner, listener }: Route, waitedMs: number): Promise<Settled> {
    if (listener.kind !== "webhook") return this.#store(delivery, owner, listener);
    try {
      const unsettled = this.#unsettled.get(delivery);
      if (unsettled !== undefined) return await this.#settleAttempt(delivery, unsettled, owner);
      const disabled = this.#attempts.disabled(listener);
      if (disabled !== undefined) return await this.#discards.unattempted(delivery, disabled.message);
      if (waitedMs > maxChainWaitMs) return await this.#postpone(delivery, listener);
      return await this.#attemptAtOnce(delivery, owner, this.#webhookTarget(delivery, listener));
    } catch (error) {
      return this.#rescheduleWithoutDatabase(delivery, error);
    }
  }

  /** Like `attemptFirst`, for what `$.send` asked for. */
  async sendFirst(delivery: Delivery, kind: DeliveredSend): Promise<Settled> {
    const { owner } = delivery.event;
    try {
      const unsettled = this.#unsettled.get(delivery);
      if (unsettled !== undefined) return await this.#settleAttempt(delivery, unsettled, owner);
      return await this.#attemptAtOnce(delivery, owner, this.#sendTarget(delivery, kind));
    } catch (error) {
      return this.#rescheduleWithoutDatabase(delivery, error);
    }
  }

  /** Attempts a due delivery. Resolves once its message can be acked. */
  async attemptDue(delivery: Delivery, routes: Routes): Promise<void> {
    this.release(delivery);
    await this.attempt(delivery, routes);
  }

  /** Attempts a delivery and waits for the outcome, however slow it is. */
  async attempt(delivery: Delivery, routes: Routes): Promise<Settled> {
    try {
      const unsettled = this.#unsettled.get(delivery);
      if (unsettled !== undefined) return await this.#settleAttempt(delivery, unsettled);
      if (await this.#late.supersedes(delivery)) return "done";
      const send = sendKindOf(delivery);
      if (send !== undefined) return await this.#attemptInPlace(delivery, delivery.event.owner, this.#sendTarget(delivery, send));
      const webhook = routes.webhook(delivery.listener);
      const route = routes.find(delivery.subscription);
      // Events that were accepted for a workflow stay when the subscription ends.
      const workflow = routes.workflow(delivery.listener);
      // A redelivery goes to the webhook or workflow even if the subscription was deleted.
      const listener = delivery.attemptsBefore === undefined ? (route?.listener ?? workflow) : (webhook ?? workflow);
      const disabled = webhook === undefined ? undefined : this.#attempts.disabled(webhook);
      if (disabled !== undefined) return await this.#discards.unattempted(delivery, disabled.message);
      if (webhook?.keys.length === 0) return await this.#discards.unattempted(delivery, "nothing could be posted to the webhook");
      if (listener === undefined) return "done"; // The subscription or its listener was deleted.
      if (listener.kind !== "webhook")
        return await this.#store(delivery, route?.owner ?? routes.find(delivery.listener)?.owner ?? "", listener);
      const owner = routes.find(listener.id)?.owner ?? route?.owner ?? delivery.event.owner;
      return await this.#attemptInPlace(delivery, owner, this.#webhookTarget(delivery, listener));
    } catch (error) {
      return this.#rescheduleWithoutDatabase(delivery, error);
    }
  }

  async #attemptAtOnce(delivery: Delivery, owner: string, target: Target): Promise<Settled> {
    if (this.#late.inFlightOf(owner) >= maxLate) return this.#rescheduleSoon(delivery, owner);
    return this.#attempt(delivery, target, owner);
  }

  /** Attempts a due delivery in one of its owner's places. Without one it is due again soon: NATS can hand out others in the meantime. */
  async #attemptInPlace(delivery: Delivery, owner: string, target: Target): Promise<Settled> {
    const place = this.#places.take(owner, delivery);
    if (place === undefined) return this.#rescheduleSoon(delivery, owner);
    try {
      return await this.#attempt(delivery, target);
    } finally {
      place.release();
    }
  }

  /** Without counting an attempt. */
  #rescheduleSoon(delivery: Delivery, owner: string): Promise<Settled> {
    return this.schedule(delivery, this.#placeSlots.next(owner, this.#ports.clock.now(), deliveryBytes(delivery)));
  }

  /** Stores a delivery that is due at `atMs` (epoch ms). It becomes a dead letter if its owner's share of the stream is used up. */
  async schedule(delivery: Delivery, atMs: number): Promise<Settled> {
    const { listener, id, attempt } = delivery;
    if (becomesDeadLetter(delivery) && !this.#capacity.hasCapacityFor(delivery)) return this.#discards.unattempted(delivery, noCapacity);
    await this.#ports.deliveries.schedule(listener, id, encodeDelivery(delivery), atMs, `${id}#${attempt}@${atMs}`);
    this.#capacity.stored(delivery);
    return "scheduled";
  }

  /** Counts a delivery that is stored in an ordered queue. False: its owner's share is used up, and it is a dead letter. */
  async hold(delivery: Delivery, isHead: boolean): Promise<boolean> {
    const isHeld = isHead || this.#capacity.hasCapacityFor(delivery);
    if (isHeld) this.#capacity.stored(delivery);
    else await this.#discards.unattempted(delivery, noCapacity);
    return isHeld;
  }

  /** A message of the delivery was removed from the stream. */
  release(delivery: Delivery): void {
    this.#capacity.removed(delivery);
  }

  /** Gives up a delivery that can be neither attempted nor stored. Resolves once it is a dead letter of its webhook or workflow. */
  async abandon(delivery: Delivery, error: Error): Promise<void> {
    this.#unsettled.delete(delivery);
    if (becomesDeadLetter(delivery)) await this.#discards.add(delivery, `it cannot be stored for a later attempt: ${error.message}`);
  }

  /** Waits for attempts that took longer than the deadline. */
  drain(): Promise<void> {
    return this.#background.idle();
  }

  /** Deliveries to sources and workflows need no HTTP attempt: storing the message delivers it. */
  async #store(delivery: Delivery, owner: string, listener: Exclude<RouteListener, Webhook>): Promise<Settled> {
    const { id } = listener;
    // The workflow may have changed while the delivery waited behind earlier ones, which may be in its queue.
    const route = listener.kind === "source" ? { owner, listener } : this.#workflows?.directRoute(id);
    if (route === undefined) return this.#storeInQueue(delivery, owner);
    const outcome = await deliverAsInvocation(delivery, route, this.#ports);
    return outcome === "backlog_full" ? this.schedule(delivery, this.#backlogSlots.next(owner, this.#ports.clock.now())) : "done";
  }

  /** An event that may not wait for its workflow becomes a dead letter of it. */
  async #storeInQueue(delivery: Delivery, owner: string): Promise<Settled> {
    if (this.#workflows === undefined) throw new Invariant(`delivery ${delivery.id} names a workflow, and these are for webhooks only`);
    const refusal = await this.#workflows.store(delivery, owner);
    if (refusal === undefined) return "done";
    await this.#discards.unattempted(delivery, refusal);
    this.#ports.metrics?.attempted("workflow", "dead", 0);
    return "done";
  }

  /** @param firstOf owner of a first attempt; absent for a due delivery, which waits for the outcome, but behind fewer others for a permit */
  async #attempt(delivery: Delivery, target: Target, firstOf?: string): Promise<Settled> {
    const now = this.#ports.clock.now();
    const maxWaiting = firstOf === undefined ? maxDueWaiting : undefined;
    const acquired = await this.#attempts.acquire(target.id, now, this.#deadline.timeoutMs, maxWaiting);
    if (!acquired) return this.#postpone(delivery, target, now);
    return this.#settleAttempt(delivery, target.attempt(), firstOf);
  }

  #webhookTarget(delivery: Delivery, webhook: Webhook): Target {
    return { id: webhook.id, attempt: () => this.#attempts.attempt(delivery, webhook) };
  }

  #sendTarget(delivery: Delivery, kind: DeliveredSend): Target {
    return { id: circuitOf(delivery, kind), attempt: () => this.#attempts.send(delivery, kind) };
  }

  #postpone(delivery: Delivery, { id }: Pick<Target, "id">, now = this.#ports.clock.now()): Promise<Settled> {
    return this.schedule(delivery, now + this.#attempts.postponeMs(id, now));
  }

  /** If the deadline of a first attempt expires first, schedules the next attempt now, and settles this one in the background. */
  async #settleAttempt(delivery: Delivery, attempt: Promise<Outcome>, firstOf?: string): Promise<Settled> {
    const outcome = await (firstOf === undefined ? attempt : this.#deadline.race(attempt));
    try {
      if (outcome !== undefined) return await this.#settle(delivery, outcome, false);
      const settled = await this.#retryLater(delivery, this.#config.attemptTimeoutMs - this.#deadline.timeoutMs);
      this.#inBackground(this.#late.add(delivery, firstOf ?? delivery.event.owner, this.#settleLate(delivery, attempt)));
      return settled;
    } catch (error) {
      this.#unsettled.set(delivery, attempt);
      attempt.catch(() => this.#unsettled.delete(delivery));
      throw error;
    }
  }

  async #settleLate(delivery: Delivery, attempt: Promise<Outcome>): Promise<Outcome> {
    const outcome = await attempt;
    await this.#settle(delivery, outcome, true);
    return outcome;
  }

  /** @param isScheduled whether the next attempt is already stored, which is right for `retry` unless there is a Retry-After */
  async #settle(delivery: Delivery, outcome: Outcome, isScheduled: boolean): Promise<Settled> {
    switch (outcome.outcome) {
      case "delivered":
        break;
      case "retry":
        return isScheduled && outcome.retryAfter === undefined ? "scheduled" : this.#retryLater(delivery, 0, outcome);
      case "listener-gone":
        await this.#discards.add(delivery, outcome.error);
        break;
      default:
        return assertNever(outcome);
    }
    if (!isScheduled) return "done";
    await this.#ports.deliveries.withdraw(delivery.listener, delivery.id);
    this.#capacity.removed(delivery);
    return "done";
  }

  async #retryLater(delivery: Delivery, afterMs: number, outcome?: Extract<Outcome, { outcome: "retry" }>): Promise<Settled> {
    const now = this.#ports.clock.now();
    const retryAfterMs = outcome?.retryAfter === undefined ? undefined : parseRetryAfter(outcome.retryAfter, now);
    const delayMs = this.#config.nextAttempt(attemptsInSchedule(delivery), this.#ports.random(), retryAfterMs);
    if (delayMs === undefined) return this.#discards.add(delivery, outcome?.error ?? "the endpoint did not answer in time");
    return this.schedule({ ...delivery, attempt: delivery.attempt + 1 }, now + afterMs + delayMs);
  }

  /** Postpones a delivery that only Postgres can settle, so that nothing waits for it in the meantime. */
  async #rescheduleWithoutDatabase(delivery: Delivery, error: unknown): Promise<Settled> {
    if (!(error instanceof HeadwaterError) || error.code !== "database_unavailable") throw error;
    return this.schedule(delivery, this.#ports.clock.now() + Math.round(databaseRetryMs * (1 + this.#ports.random())));
  }

  #inBackground(work: Promise<unknown>): void {
    const report = (err: unknown): void =>
      this.#ports.log.warn({ op: "delivery.withdraw", err }, "a late attempt is not settled: its delivery may be repeated");
    this.#background.add(work.catch(report));
  }
}
