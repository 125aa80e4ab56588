import type { StoredMsg } from "@nats-io/jetstream";
import { assertNever } from "../../../domain/errors.ts";
import { streams, timerFilter, timerSubject } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import type { MessageSchedule, Published, Publisher } from "./publisher.ts";

/** When the server is to publish. An interval is at least a second; cron has six fields, the first being seconds. */
export type Schedule =
  | { readonly kind: "every"; /** A Go duration such as `15s`. */ readonly every: string }
  | { readonly kind: "cron"; readonly cron: string; readonly timezone: string }
  /** Once; a time in the past means at once. */
  | { readonly kind: "at"; /** Epoch milliseconds. */ readonly atMs: number };

export interface Timer {
  readonly source: string;
  readonly prop: string;
  readonly schedule: Schedule;
  /** A subject of INVOCATIONS. */
  readonly target: string;
  /** What each tick carries. */
  readonly body: string;
  /** For a link of a chain: arming it again after a crash changes nothing. */
  readonly messageId?: string;
}

/** Replaces what the source's prop had before. @throws InvalidInput when the server refuses the schedule, Unavailable */
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

/** Ends all timers of a source, whichever there are. */
export async function endTimers(connection: Connection, source: string): Promise<void> {
  await connection.manager.streams.purge(streams.invocations, { filter: timerFilter(source) });
}

export interface ScheduledMessage {
  /** Where the schedule itself lies until it is done; publishing there again replaces it, purging it ends it. */
  readonly subject: string;
  readonly schedule: Schedule;
  /** A subject of the same stream. */
  readonly target: string;
  readonly body: string;
  readonly messageId?: string;
}

/** A schedule on any stream that allows them: retries, late deliveries. A one-shot leaves nothing behind once it fired. */
export function publishScheduled(publisher: Publisher, message: ScheduledMessage): Promise<Published> {
  const { subject, schedule, target, body, messageId } = message;
  return publisher.publish(subject, body, {
    schedule: messageSchedule(schedule, target),
    ...(messageId === undefined ? {} : { messageId }),
  });
}

/** Epoch ms at which a message is to be published once; undefined: it is no such schedule. */
export function onceAt({ header }: Pick<StoredMsg, "header">): number | undefined {
  const [, at] = /^@at (.+)$/.exec(header.get("Nats-Schedule")) ?? [];
  return at === undefined ? undefined : Date.parse(at);
}

/** Ends one schedule, or several with a wildcard. */
export async function endSchedule(connection: Connection, stream: string, subject: string): Promise<void> {
  await connection.manager.streams.purge(stream, { filter: subject });
}

/** The end of the year 9999: the server reads times as RFC 3339 writes them, and refuses later ones. */
const latestMs = 253_402_300_799_999;

function messageSchedule(schedule: Schedule, target: string): MessageSchedule {
  switch (schedule.kind) {
    case "every":
      return { schedule: `@every ${schedule.every}`, target };
    // The server takes no time zone for UTC's sake; an absent one means UTC.
    case "cron":
      return {
        schedule: schedule.cron,
        target,
        ...(schedule.timezone === "UTC" ? {} : { timezone: schedule.timezone }),
      };
    case "at":
      return { schedule: `@at ${new Date(Math.min(schedule.atMs, latestMs)).toISOString()}`, target };
    default:
      return assertNever(schedule);
  }
}
