import type { StoredMsg } from "@nats-io/jetstream";
import { assertNever } from "../../domain/errors.ts";
import { streams, timerFilter, timerSubject } from "../../domain/subjects.ts";
import type { Connection } from "./connection/connection.ts";
import type { MessageSchedule, Published, Publisher } from "./connection/publisher.ts";

/** When NATS publishes. An interval is at least a second; cron has six fields, beginning with seconds. */
export type Schedule =
  | { readonly kind: "every"; /** A Go duration such as `15s`. */ readonly every: string }
  | { readonly kind: "cron"; readonly cron: string; readonly timezone: string }
  /** Once; a time in the past means now. */
  | { readonly kind: "at"; /** Epoch milliseconds. */ readonly atMs: number };

export interface Timer {
  readonly source: string;
  readonly prop: string;
  readonly schedule: Schedule;
  /** A subject of INVOCATIONS. */
  readonly target: string;
  /** Body of each tick. */
  readonly body: string;
  /** Of a link of a chain: scheduling it again after a crash changes nothing. */
  readonly messageId?: string;
}

/** Sets the timer of a source's prop, replacing an earlier one. @throws InvalidInput when NATS refuses the schedule, Unavailable */
export function setTimer(publisher: Publisher, timer: Timer): Promise<Published> {
  const { source, prop, schedule, target, body, messageId } = timer;
  return publishScheduled(publisher, {
    subject: timerSubject(source, prop),
    schedule,
    target,
    body,
    ...(messageId === undefined ? {} : { messageId }),
  });
}

/** Removes the timer of a source's prop. */
export const endTimer = (connection: Connection, source: string, prop: string): Promise<void> =>
  endSchedule(connection, streams.invocations, timerSubject(source, prop));

/** Removes all timers of a source. */
export async function endTimers(connection: Connection, source: string): Promise<void> {
  await connection.manager.streams.purge(streams.invocations, { filter: timerFilter(source) });
}

export interface ScheduledMessage {
  /** Subject of the schedule itself until it has fired: publishing there replaces it, purging removes it. */
  readonly subject: string;
  readonly schedule: Schedule;
  /** A subject of the same stream. */
  readonly target: string;
  readonly body: string;
  readonly messageId?: string;
}

/** Stores a schedule in a stream that allows them. A one-shot schedule is removed once it has fired. */
export function publishScheduled(publisher: Publisher, message: ScheduledMessage): Promise<Published> {
  const { subject, schedule, target, body, messageId } = message;
  return publisher.publish(subject, body, {
    schedule: messageSchedule(schedule, target),
    ...(messageId === undefined ? {} : { messageId }),
  });
}

/** Epoch ms of a one-shot schedule; undefined for other messages. */
export function onceAt({ header }: Pick<StoredMsg, "header">): number | undefined {
  const [, at] = /^@at (.+)$/.exec(header.get("Nats-Schedule")) ?? [];
  return at === undefined ? undefined : Date.parse(at);
}

/** Removes one schedule, or several with a wildcard. */
export async function endSchedule(connection: Connection, stream: string, subject: string): Promise<void> {
  await connection.manager.streams.purge(stream, { filter: subject });
}

/** The end of the year 9999: NATS reads times in RFC 3339 and refuses later ones. */
const maxTimeMs = 253_402_300_799_999;

function messageSchedule(schedule: Schedule, target: string): MessageSchedule {
  switch (schedule.kind) {
    case "every":
      return { schedule: `@every ${schedule.every}`, target };
    // NATS refuses the time zone UTC, which is its default.
    case "cron":
      return {
        schedule: schedule.cron,
        target,
        ...(schedule.timezone === "UTC" ? {} : { timezone: schedule.timezone }),
      };
    case "at":
      return { schedule: `@at ${new Date(Math.min(schedule.atMs, maxTimeMs)).toISOString()}`, target };
    default:
      return assertNever(schedule);
  }
}
