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
 * | `backlog_full` | the listener accepts nothing now | is due again, as the same attempt |
 * | `listener-gone` | no attempt can succeed | is a dead letter |
 * | `refused` | the event may not be stored there | is a dead letter without this attempt |
 * | `left_out` | the event must never go there, for example in a cycle of sources | is done |
 */
export type Outcome =
  | { readonly outcome: "delivered"; readonly status: number | null }
  | (NotDelivered<"retry"> & { readonly retryAfter: string | undefined })
  | NotDelivered<"backlog_full" | "listener-gone" | "refused" | "left_out">;

/** An attempt that has ended. */
export interface Attempted {
  readonly outcome: Outcome;
  /** Start in epoch ms. */
  readonly at: number;
  readonly durationMs: number;
}

/** Where a delivery goes. `Destinations` finds it; `test/conformance/destination.ts` shows what each one does. */
export interface Destination {
  /** As metrics name it. */
  readonly kind: ListenerKind;
  /** Whose places its due attempts take. */
  readonly owner: string;
  /** Names the permits and the circuit breaker of its attempts. Undefined: it needs none, because NATS stores the event for it. */
  readonly circuit: string | undefined;
  /** The first attempt is that of a due message as well. These have no deadline, so a slow mail server gets each mail once. */
  readonly isScheduledFirst: boolean;
  /** Why nothing may be delivered to it now, and what its owner can do. Undefined: deliveries are attempted. */
  refusal(): string | undefined;
  /**
   * Repeating an attempt is safe: it has the delivery's id. One that rejects could not be made: it counts as failed if it has a circuit. If
   * it has none, NATS could not store the event, and the attempt is repeated without counting.
   *
   * @param traceparent of the attempt's span, which the receiver continues
   */
  attempt(delivery: Delivery, traceparent: string | undefined): Promise<Outcome>;
  /** Attributes of an attempt's span, besides those of all deliveries. */
  spanAttributes(): Readonly<Record<string, string>>;
  /**
   * Learns how an attempt has ended. Absent: it does not depend on attempts.
   *
   * @param circuitOpenUntil epoch ms; undefined while its circuit is closed
   * @returns why nothing more may be delivered to it; undefined: more may. Rejects if that cannot be stored
   */
  ended?(delivery: Delivery, attempted: Attempted, circuitOpenUntil: number | undefined): Promise<string | undefined> | undefined;
}

/** An attempt that no repetition can change. */
export const impossible = (error: string): Outcome => ({ outcome: "listener-gone", status: null, error });
