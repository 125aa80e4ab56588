import type { Clock } from "../../domain/clock.ts";
import { HeadwaterError } from "../../domain/errors.ts";
import type { Log } from "../../domain/log.ts";
import { assertSettled, settle } from "../settle.ts";
import type { ScheduledEvent } from "./delivery.ts";
import { KeyedChains } from "./keyed-chains.ts";
import type { AnnounceEvent, ScheduledEventRows } from "./ports.ts";
import { routeEvent, type RouterParts } from "./router.ts";

const unrecordedRetryMs = 500;
const databaseRetryMs = 5_000;

export interface ScheduledEventsPorts {
  readonly history: ScheduledEventRows;
  readonly announce: AnnounceEvent;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Pick<Log, "warn" | "error">;
}

/**
 * Events with a `delivery_ts`. Each is one schedule in DELIVERIES and one row in the list `$in`, which the recorder writes:
 *
 *   commit ──▶ schedule + row ──▶ due ──▶ row exists? ──yes──▶ routed to the listeners of that time ──▶ row becomes history
 *                                             └── no: canceled, or emitted before a crash
 *
 * The row decides: deleting it cancels the event for every listener. So a due event waits while Postgres is away.
 */
export class ScheduledEvents {
  readonly #ports: ScheduledEventsPorts;
  readonly #router: RouterParts;
  readonly #signal: AbortSignal;
  readonly #chains = new KeyedChains();
  /** By emit id, because NATS hands out a message again while its event waits for Postgres. */
  readonly #emitting = new Map<string, Promise<void>>();

  constructor(ports: ScheduledEventsPorts, router: RouterParts, signal: AbortSignal) {
    this.#ports = ports;
    this.#router = router;
    this.#signal = signal;
  }

  /** Emits a due event. Resolves once its message, which has this sequence, can be acked. */
  emit(text: string, dueSequence: number): Promise<void> {
    const scheduled = { ...(JSON.parse(text) as ScheduledEvent), dueSequence }; // Only this role writes to the stream.
    const { emitId } = scheduled.event;
    const emitting = this.#emitting.get(emitId) ?? this.#emit(scheduled).finally(() => this.#emitting.delete(emitId));
    this.#emitting.set(emitId, emitting);
    return emitting;
  }

  async #emit(scheduled: ScheduledEvent): Promise<void> {
    const { event, run, listedId, position } = scheduled;
    const { clock, history, random, log, announce } = this.#ports;
    try {
      const state = await history.scheduledEvent(event.source, listedId, position);
      if (state === "gone") return;
      if (state === "unrecorded") return await this.#router.dispatch.rescheduleEvent(scheduled, clock.now() + unrecordedRetryMs);
    } catch (error) {
      if (!(error instanceof HeadwaterError) || error.code !== "database_unavailable") throw error;
      return this.#router.dispatch.rescheduleEvent(scheduled, clock.now() + Math.round(databaseRetryMs * (1 + random())));
    }
    await routeEvent(event, {}, this.#chains, this.#router);
    // Deliver first, list in the channel second. A crash in between repeats deliveries under their ids; the other order would lose them.
    const emitted = () => history.emitScheduledEvent(event.source, listedId, event.eventId);
    assertSettled(await settle(emitted, { id: event.emitId }, { log }, this.#signal));
    announce(run === undefined ? event : { ...event, run });
  }
}
