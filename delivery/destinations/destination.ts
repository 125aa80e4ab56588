import type { RawExchange } from "../../domain/delivery/exchange.ts";
import type { Delivery } from "../routing/delivery.ts";
import type { ListenerKind } from "./ports.ts";

interface NotDelivered<Name extends string> {
  readonly outcome: Name;
  /** HTTP status; null if there was no response. */
  readonly status: number | null;
  /** For the owner. */
  readonly error: string;
}

/**
 * How an attempt ended:
 *
 * | outcome | because | the delivery |
 * |---|---|---|
 * | `delivered` | | is done |
 * | `retry` | another attempt may succeed | is due again, or a dead letter after the last attempt |
 * | `listener_gone` | no attempt can succeed | is a dead letter |
 * | `backlog_full` | the listener accepts nothing now | is due again, as the same attempt |
 * | `refused` | the event may not be stored there | is a dead letter without this attempt |
 * | `left_out` | the event must never go there, for example in a cycle of sources | is done |
 */
export type Outcome = ExternalOutcome | InternalOutcome;

export type ExternalOutcome = (
  | Delivered
  | (NotDelivered<"retry"> & { readonly retryAfter: string | undefined })
  | NotDelivered<"listener_gone">
) & {
  /** What was sent and received. Absent: it is not recorded. */
  readonly exchange?: RawExchange;
};

export type InternalOutcome = Delivered | NotDelivered<"backlog_full" | "refused" | "left_out">;

interface Delivered {
  readonly outcome: "delivered";
  readonly status: number | null;
}

/** An attempt at an external destination that has ended. */
export interface Attempted {
  readonly outcome: ExternalOutcome;
  /** Start in epoch ms. */
  readonly at: number;
  readonly durationMs: number;
}

/** Where a delivery goes. `Destinations` finds it; `test/conformance/destination.ts` shows what each one does. */
export type Destination = ExternalDestination | InternalDestination;

interface AnyDestination<Kind extends ListenerKind, Result extends Outcome> {
  /** As metrics name it. */
  readonly kind: Kind;
  /** Due attempts count towards this owner's concurrency. */
  readonly owner: string;
  /** Why nothing may be delivered to it now, and what its owner can do. Absent, or undefined: deliveries are attempted. */
  refusal?(): string | undefined;
  /**
   * Repeating an attempt is safe: it has the delivery's id.
   *
   * @param traceparent of the attempt's span, which the receiver continues
   */
  attempt(delivery: Delivery, traceparent: string | undefined): Promise<Result>;
}

/** A webhook, or what `$.send` asked for. An attempt needs a permit and is recorded. One that rejects is retried like any that fails. */
export interface ExternalDestination extends AnyDestination<"webhook" | "send", ExternalOutcome> {
  /** Names the permits and the circuit breaker of its attempts. */
  readonly circuit: string;
  /** Even the first attempt is made from a stored message. Due attempts have no deadline, so a slow mail server gets each mail once. */
  readonly storesBeforeFirstAttempt: boolean;
  /** Attributes of an attempt's span, besides those of all deliveries. */
  spanAttributes(): Readonly<Record<string, string>>;
  /**
   * Called after each attempt. Returns why the destination accepts nothing more; undefined: it accepts more. Rejects if that cannot be
   * stored. Absent: it does not depend on attempts.
   *
   * @param circuitOpenUntil epoch ms; undefined while its circuit is closed
   */
  onAttempted?(delivery: Delivery, attempted: Attempted, circuitOpenUntil: number | undefined): Promise<string | undefined> | undefined;
}

/**
 * A source or workflow, for which NATS stores the event. An attempt needs no permit. It rejects if NATS cannot store the event, and is then
 * repeated without counting.
 */
export interface InternalDestination extends AnyDestination<"source" | "workflow", InternalOutcome> {
  readonly circuit?: undefined;
}

/** An attempt that no repetition can change. */
export const impossible = (error: string): ExternalOutcome => ({ outcome: "listener_gone", status: null, error });
