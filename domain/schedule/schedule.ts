import { Cron } from "croner";
import { normalizeCron } from "./cron.ts";
import { assertNever, InvalidInput } from "../errors.ts";
import { parseCatchUp, parseJitter, parseOverlap, type TimerOptions } from "./timer-options.ts";
import { isFixedZone, parseTimezone } from "./timezone.ts";

/** A checked timer value. */
export type TimerSchedule = (
  | { readonly kind: "interval"; readonly intervalSeconds: number }
  | { readonly kind: "cron"; /** Five fields, normalized. */ readonly cron: string; readonly timezone: string }
) &
  TimerOptions;

/** A schedule for NATS. */
export type ServerSchedule =
  | { readonly kind: "every"; /** A Go duration, `15s`. */ readonly every: string }
  | {
      readonly kind: "cron";
      /** Six fields, the first being seconds. */ readonly cron: string;
      readonly timezone: string;
    }
  /** One-shots: each tick arms the next at {@link nextTick}. */
  | { readonly kind: "chain" };

/** Bounds of `intervalSeconds`: up to 366 days. */
export const intervalBounds = { minimum: 1, maximum: 366 * 24 * 60 * 60 } as const;
const defaultTimezone = "UTC";

/**
 * Parses `{intervalSeconds}` or `{cron, timezone?}`, with an optional `jitterSeconds`. Also accepts the form of responses, so that clients
 * can send back what they read: `interval_seconds`, which is ignored if `cron` is present. @throws InvalidInput
 */
export function parseTimer(value: unknown): TimerSchedule {
  const schedule = parseSchedule(value);
  const { jitterSeconds, jitter_seconds } = value as Record<string, unknown>; // an object by the line above
  const jitter = parseJitter(jitterSeconds ?? jitter_seconds);
  if (jitter.jitterSeconds === undefined) return schedule;
  const between = shortestSecondsBetweenTicks(schedule);
  if (jitter.jitterSeconds >= between)
    throw new InvalidInput(
      `jitter of ${jitter.jitterSeconds} seconds is invalid: it must be less than the ${between} seconds between two ticks`,
    );
  return { ...schedule, ...jitter };
}

/** Parses the timer of a workflow, which may also have `overlap` and `catchUp`. @throws InvalidInput */
export function parseWorkflowTimer(value: unknown): TimerSchedule {
  const schedule = parseTimer(value);
  const { overlap, catchUp } = value as Record<string, unknown>; // an object by the line above
  return { ...schedule, ...parseOverlap(overlap), ...parseCatchUp(catchUp) };
}

function parseSchedule(value: unknown): TimerSchedule {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw shapeError(value);
  const { intervalSeconds, interval_seconds, cron: given, timezone } = value as Record<string, unknown>; // an object by the line above
  const cron = given ?? undefined;
  const interval = intervalSeconds ?? (cron === undefined ? interval_seconds : undefined) ?? undefined;
  if (interval !== undefined && cron !== undefined) throw new InvalidInput("a timer has both intervalSeconds and cron: give one of them");
  if (interval !== undefined) return { kind: "interval", intervalSeconds: parseInterval(interval) };
  if (typeof cron !== "string") throw shapeError(value);
  if (timezone !== undefined && timezone !== null && typeof timezone !== "string")
    throw new InvalidInput("timezone must be a string such as Europe/Berlin");
  return parseCron(cron, timezone ?? defaultTimezone);
}

/**
 * The schedule that NATS runs. Its cron is correct in zones without clock changes. In other zones it skips ticks in the omitted hour and
 * repeats those in the repeated hour, so there the ticks are a chain that Headwater computes. So are those of timers with options.
 */
export function serverSchedule(schedule: TimerSchedule): ServerSchedule {
  const { jitterSeconds, overlap = "allow", catchUp } = schedule;
  if (jitterSeconds !== undefined || overlap !== "allow" || catchUp !== undefined) return { kind: "chain" };
  switch (schedule.kind) {
    case "interval":
      return { kind: "every", every: `${schedule.intervalSeconds}s` };
    case "cron":
      return isFixedZone(schedule.timezone) ? { kind: "cron", cron: `0 ${schedule.cron}`, timezone: schedule.timezone } : { kind: "chain" };
    default:
      return assertNever(schedule);
  }
}

/**
 * The first tick strictly after `afterMs`, epoch ms. The ticks of an interval are at whole multiples of it after `armedAtMs`, the time at
 * which it was armed; there is no tick at that time itself. A cron follows the wall clock of its zone: when clocks go forward over the
 * time, it ticks at the end of the gap; when clocks go back over it, it ticks once.
 */
export function nextTick(schedule: TimerSchedule, afterMs: number, armedAtMs = 0): number {
  switch (schedule.kind) {
    case "interval": {
      const intervalMs = schedule.intervalSeconds * 1000;
      return armedAtMs + Math.max(1, Math.floor((afterMs - armedAtMs) / intervalMs) + 1) * intervalMs;
    }
    case "cron": {
      const next = nextRun(schedule.cron, schedule.timezone, afterMs);
      if (next === undefined) throw neverTicks(schedule.cron);
      return next;
    }
    default:
      return assertNever(schedule);
  }
}

/** The tick after another one: an interval goes on from there. */
export const tickAfter = (schedule: TimerSchedule, tickAt: number): number => nextTick(schedule, tickAt, tickAt);

/**
 * The last ticks after `fromMs`, up to and including `toMs`, oldest first. Those of an interval are at multiples of it after `fromMs`.
 * @param max maximum ticks
 */
export function lastTicks(schedule: TimerSchedule, fromMs: number, toMs: number, max: number): readonly number[] {
  if (toMs <= fromMs || max < 1) return [];
  let windowMs = secondsBetweenTicks(schedule) * 1000 * (max + 1);
  for (;;) {
    const start = Math.max(fromMs, toMs - windowMs);
    // The window of an interval begins at one of its ticks.
    const base = schedule.kind === "cron" ? start : start - ((start - fromMs) % (schedule.intervalSeconds * 1000));
    const ticks: number[] = [];
    for (let tick = tickAfter(schedule, base); tick <= toMs; tick = tickAfter(schedule, tick)) ticks.push(tick);
    if (ticks.length >= max || start === fromMs) return ticks.slice(-max);
    windowMs *= 2;
  }
}

/** A Monday that is far from clock changes in every zone. */
const referenceMs = Date.UTC(2026, 0, 5);

/**
 * Seconds between two successive ticks. For a cron these are its first two ticks after a fixed time: the result is the same on every
 * day of the year and no clock change falls in between. Daily and weekday crons return 86400.
 */
export function secondsBetweenTicks(schedule: TimerSchedule): number {
  if (schedule.kind === "interval") return schedule.intervalSeconds;
  const first = nextTick(schedule, referenceMs);
  return (nextTick(schedule, first) - first) / 1000;
}

/** So many gaps of a cron are looked at. */
const lookedAt = 100;

/** A jitter that is not shorter could pass the next tick. */
function shortestSecondsBetweenTicks(schedule: TimerSchedule): number {
  if (schedule.kind === "interval") return schedule.intervalSeconds;
  let [shortest, tick] = [Number.POSITIVE_INFINITY, nextTick(schedule, referenceMs)];
  for (let n = 0; n < lookedAt; n++) {
    const next = nextTick(schedule, tick);
    shortest = Math.min(shortest, next - tick);
    tick = next;
  }
  return shortest / 1000;
}

function parseInterval(value: unknown): number {
  const seconds = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  if (typeof seconds === "number" && Number.isInteger(seconds) && seconds >= intervalBounds.minimum && seconds <= intervalBounds.maximum)
    return seconds;
  throw new InvalidInput(
    `intervalSeconds ${JSON.stringify(value)} is invalid: it must be an integer from ${intervalBounds.minimum} to ${intervalBounds.maximum} (366 days)`,
  );
}

function parseCron(text: string, zone: string): TimerSchedule {
  const cron = normalizeCron(text);
  const timezone = parseTimezone(zone);
  // 30 February never comes, whatever the start. Leap days are at most 8 years apart.
  if (nextRun(cron, "UTC", Date.UTC(2025, 0, 1)) === undefined) throw neverTicks(text);
  return { kind: "cron", cron, timezone };
}

function nextRun(cron: string, timezone: string, afterMs: number): number | undefined {
  // Without a function, Cron only computes: it starts no clock.
  return new Cron(cron, { mode: "5-part", timezone }).nextRun(new Date(afterMs))?.getTime();
}

function neverTicks(cron: string): InvalidInput {
  return new InvalidInput(`cron '${cron}' is invalid: it would never tick, because no month has such a day`, {
    code: "invalid_cron",
  });
}

function shapeError(value: unknown): InvalidInput {
  return new InvalidInput(
    `timer ${JSON.stringify(value)?.slice(0, 200)} is invalid: it must be {"intervalSeconds": <integer>} or {"cron": "<five fields>", "timezone": "<optional>"}`,
  );
}
