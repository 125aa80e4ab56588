import type { Clock } from "../../domain/clock.ts";
import { parseRetryAfter } from "../../domain/delivery/retry-schedule.ts";
import { assertNever, HeadwaterError } from "../../domain/errors.ts";
import type { Log } from "../../domain/log.ts";
import type { Destination, ExternalDestination, ExternalOutcome, InternalDestination, Outcome } from "../destinations/destination.ts";
import type { Destinations } from "../destinations/destinations.ts";
import type { DeliveryMetrics } from "../destinations/ports.ts";
import { encodeDelivery, scheduledMessageId, type Delivery } from "../routing/delivery.ts";
import type { FirstAttempt } from "../routing/ports.ts";
import { PendingWork } from "../settle.ts";
import { attemptsInSchedule, type Attempts } from "./attempts.ts";
import { becomesDeadLetter, Discards, type DiscardPorts, type Settled } from "./discards.ts";
import { deliveryBytes, DuePlaces } from "./due-places.ts";
import { LateAttempts } from "./late-attempts.ts";
import type { Deliveries, RetrySchedule } from "./ports.ts";
import { RescheduleSlots } from "./reschedule-slots.ts";
import { RetryCapacity } from "./retry-capacity.ts";
import { SharedTimeout } from "./shared-timeout.ts";

/** A first attempt that waited longer behind others of its source is postponed, so that no webhook holds back the floor of RUNS. */
const maxChainWaitMs = 5_000;
/** Base of the delay after which a delivery that only Postgres can settle is due again. */
const databaseRetryMs = 5_000;
/** Bound on due deliveries that wait for a permit of one webhook: fewer than an owner has places, so that others of the owner get some. */
const maxDueWaiting = 500;

/** First attempts that are slower than the deadline, by owner. Beyond, further deliveries are scheduled, and attempted in the owner's places. */
const maxLate = 128;

const noCapacity = "too many bytes of this owner's deliveries wait for a later attempt, and the stream DELIVERIES is full";

export interface DelivererConfig {
  /** A first attempt that is not finished within this time has its next attempt stored. */
  readonly deliveryDeadlineMs: number;
  /** Timeout of one attempt, as the poster applies it. */
  readonly attemptTimeoutMs: number;
  readonly nextAttempt: RetrySchedule;
}

export interface DelivererPorts extends DiscardPorts {
  readonly deliveries: Pick<Deliveries, "schedule" | "withdraw" | "usage">;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Pick<Log, "warn">;
  readonly metrics?: DeliveryMetrics;
}

interface BegunAttempt {
  readonly destination: ExternalDestination;
  readonly ending: Promise<ExternalOutcome>;
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
  readonly #config: DelivererConfig;
  readonly #ports: DelivererPorts;
  readonly #attempts: Pick<Attempts, "acquire" | "postponeMs" | "attempt">;
  readonly #destinations: Pick<Destinations, "at" | "find">;
  readonly #deadline: SharedTimeout;
  readonly #background = new PendingWork();
  /** Attempts whose outcome could not be settled. They are settled again, not made again. */
  readonly #unsettled = new WeakMap<Delivery, BegunAttempt>();
  readonly #late = new LateAttempts();
  readonly #discards: Discards;
  readonly #capacity: RetryCapacity;
  readonly #backlogSlots = new RescheduleSlots();
  readonly #places = new DuePlaces();
  readonly #placeSlots = new RescheduleSlots();

  constructor(
    config: DelivererConfig,
    ports: DelivererPorts,
    attempts: Pick<Attempts, "acquire" | "postponeMs" | "attempt">,
    destinations: Pick<Destinations, "at" | "find">,
  ) {
    this.#config = config;
    this.#ports = ports;
    this.#attempts = attempts;
    this.#destinations = destinations;
    this.#discards = new Discards(ports);
    this.#deadline = new SharedTimeout(config.deliveryDeadlineMs);
    this.#capacity = new RetryCapacity(() => ports.deliveries.usage?.());
  }

  /**
   * Makes the first attempt, straight from the run. Resolves once the delivery no longer needs its commit: it is delivered, or stored
   * after a failure or at the deadline. An attempt that takes longer continues; if it succeeds, the stored message is withdrawn.
   */
  attemptFirst(delivery: Delivery, first: FirstAttempt): Promise<Settled> {
    return this.#proceed(delivery, first);
  }

  /** Attempts a due delivery. Resolves once its message can be acked. */
  async attemptDue(delivery: Delivery): Promise<void> {
    this.release(delivery);
    await this.attempt(delivery);
  }

  /** Attempts a delivery and waits for the outcome, however slow it is. */
  attempt(delivery: Delivery): Promise<Settled> {
    return this.#proceed(delivery, undefined);
  }

  /** @param first undefined for a later attempt */
  async #proceed(delivery: Delivery, first: FirstAttempt | undefined): Promise<Settled> {
    try {
      const unsettled = this.#unsettled.get(delivery);
      if (unsettled !== undefined) return await this.#settleAttempt(delivery, unsettled, first !== undefined);
      if (first === undefined && (await this.#late.supersedes(delivery))) return "done";
      const destination = first?.route === undefined ? this.#destinations.find(delivery) : this.#destinations.at(first.route);
      if (destination === undefined) return "done";
      const refusal = destination.refusal?.();
      if (refusal !== undefined) return await this.#discards.unattempted(delivery, refusal);
      if (destination.circuit === undefined) return await this.#store(delivery, destination);
      return await (first === undefined ? this.#attemptInPlace(delivery, destination) : this.#attemptAtOnce(delivery, destination, first));
    } catch (error) {
      return this.#rescheduleWithoutDatabase(delivery, error);
    }
  }

  #attemptAtOnce(delivery: Delivery, destination: ExternalDestination, { waitedMs, atMs }: FirstAttempt): Promise<Settled> {
    const { circuit, owner, storesBeforeFirstAttempt } = destination;
    if (storesBeforeFirstAttempt) return this.schedule(delivery, atMs);
    if (waitedMs > maxChainWaitMs) return this.#postpone(delivery, circuit);
    if (this.#late.inFlightOf(owner) >= maxLate) return this.#rescheduleSoon(delivery, owner);
    return this.#attemptWithPermit(delivery, destination, true);
  }

  /** Attempts a due delivery in one of its owner's places. Without one it is due again soon: NATS can hand out others in the meantime. */
  async #attemptInPlace(delivery: Delivery, destination: ExternalDestination): Promise<Settled> {
    const place = this.#places.take(destination.owner, delivery);
    if (place === undefined) return this.#rescheduleSoon(delivery, destination.owner);
    try {
      return await this.#attemptWithPermit(delivery, destination, false);
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
    const { listener, id, attempt, dueSequence } = delivery;
    if (becomesDeadLetter(delivery) && !this.#capacity.hasCapacityFor(delivery)) return this.#discards.unattempted(delivery, noCapacity);
    const messageId = scheduledMessageId(`${id}#${attempt}`, atMs, dueSequence);
    await this.#ports.deliveries.schedule(listener, id, encodeDelivery(delivery), atMs, messageId);
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

  /** Without a permit, a deadline and a record of the attempt: storing the message delivers it. */
  async #store(delivery: Delivery, destination: InternalDestination): Promise<Settled> {
    return this.#settle(delivery, destination, await destination.attempt(delivery, delivery.event.traceparent), false);
  }

  /** A due attempt waits for the outcome, but behind fewer others for a permit. */
  async #attemptWithPermit(delivery: Delivery, destination: ExternalDestination, isFirst: boolean): Promise<Settled> {
    const { circuit } = destination;
    const now = this.#ports.clock.now();
    const acquired = await this.#attempts.acquire(circuit, now, this.#deadline.timeoutMs, isFirst ? undefined : maxDueWaiting);
    if (!acquired) return this.#postpone(delivery, circuit, now);
    return this.#settleAttempt(delivery, { destination, ending: this.#attempts.attempt(delivery, destination) }, isFirst);
  }

  #postpone(delivery: Delivery, circuit: string, now = this.#ports.clock.now()): Promise<Settled> {
    return this.schedule(delivery, now + this.#attempts.postponeMs(circuit, now));
  }

  /** If the deadline of a first attempt expires first, schedules the next attempt now, and settles this one in the background. */
  async #settleAttempt(delivery: Delivery, begun: BegunAttempt, isFirst: boolean): Promise<Settled> {
    const { destination, ending } = begun;
    const outcome = await (isFirst ? this.#deadline.race(ending) : ending);
    try {
      if (outcome !== undefined) return await this.#settle(delivery, destination, outcome, false);
      const settled = await this.#retryLater(delivery, this.#config.attemptTimeoutMs - this.#deadline.timeoutMs);
      this.#inBackground(this.#late.add(delivery, destination.owner, this.#settleLate(delivery, begun)));
      return settled;
    } catch (error) {
      this.#unsettled.set(delivery, begun);
      ending.catch(() => this.#unsettled.delete(delivery));
      throw error;
    }
  }

  async #settleLate(delivery: Delivery, { destination, ending }: BegunAttempt): Promise<ExternalOutcome> {
    const outcome = await ending;
    await this.#settle(delivery, destination, outcome, true);
    return outcome;
  }

  /** @param isScheduled whether the next attempt is already stored, which is right for `retry` unless there is a Retry-After */
  async #settle(delivery: Delivery, { kind, owner }: Destination, outcome: Outcome, isScheduled: boolean): Promise<Settled> {
    switch (outcome.outcome) {
      case "delivered":
      case "left_out":
        break;
      case "retry":
        return isScheduled && outcome.retryAfter === undefined ? "scheduled" : this.#retryLater(delivery, 0, outcome);
      case "backlog_full":
        return this.schedule(delivery, this.#backlogSlots.next(owner, this.#ports.clock.now()));
      case "listener_gone":
        await this.#discards.add(delivery, outcome.error);
        break;
      case "refused":
        await this.#discards.unattempted(delivery, outcome.error);
        this.#ports.metrics?.attempted(kind, "dead", 0);
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
