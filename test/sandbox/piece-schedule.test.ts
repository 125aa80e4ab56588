import { expect, it } from "vitest";
import { isDue, scheduleOf } from "../../builder/platform-shim/piece/schedule.ts";

/** Times that a trigger of a piece sets: five fields of cron, in a time zone. */
const at = (text: string): number => Date.parse(text);

it.each([
  ["0 * * * *", "UTC", "2026-01-01T10:59:30Z", "2026-01-01T11:00:00Z", true],
  ["0 * * * *", "UTC", "2026-01-01T11:00:00Z", "2026-01-01T11:04:00Z", false],
  ["*/15 9-17 * * mon-fri", "UTC", "2026-01-01T09:14:00Z", "2026-01-01T09:19:00Z", true],
  ["*/15 9-17 * * mon-fri", "UTC", "2026-01-03T09:14:00Z", "2026-01-03T12:00:00Z", false],
  ["30 8 * * *", "Europe/Oslo", "2026-01-01T07:25:00Z", "2026-01-01T07:30:00Z", true],
  ["30 8 * * *", "Europe/Oslo", "2026-07-01T07:25:00Z", "2026-07-01T07:35:00Z", false],
  ["30 8 * * *", "Europe/Oslo", "2026-07-01T06:25:00Z", "2026-07-01T06:35:00Z", true],
  ["0 0 1 jan,jul ?", "UTC", "2025-12-31T23:59:00Z", "2026-01-01T00:03:00Z", true],
  // A date and a weekday: either is enough.
  ["0 0 13 * 5", "UTC", "2026-01-12T23:59:00Z", "2026-01-13T00:00:00Z", true],
  ["0 0 13 * 5", "UTC", "2026-01-15T23:59:00Z", "2026-01-16T00:00:00Z", true],
  ["0 0 * * 7", "UTC", "2026-01-03T23:59:00Z", "2026-01-04T00:00:00Z", true],
  ["0 0 L * *", "UTC", "2028-02-28T23:59:00Z", "2028-02-29T00:00:00Z", true],
  ["0 0 L * *", "UTC", "2028-02-27T23:59:00Z", "2028-02-28T00:00:00Z", false],
  ["0 9 * * 5L", "UTC", "2026-01-30T08:59:00Z", "2026-01-30T09:00:00Z", true],
  ["0 9 * * friL", "UTC", "2026-01-23T08:59:00Z", "2026-01-23T09:00:00Z", false],
  ["0 9 * * mon#2,5#1", "UTC", "2026-01-12T08:59:00Z", "2026-01-12T09:00:00Z", true],
  ["0 9 * * mon#2", "UTC", "2026-01-05T08:59:00Z", "2026-01-05T09:00:00Z", false],
  // With seconds.
  ["30 0 12 * * *", "UTC", "2026-01-12T11:59:00Z", "2026-01-12T12:00:00Z", true],
  ["30 0 12 * * *", "UTC", "2026-01-12T12:00:00Z", "2026-01-12T12:05:00Z", false],
  // Missed while the source was paused.
  ["0 0 1 * *", "UTC", "2026-01-15T00:00:00Z", "2026-02-03T12:34:00Z", true],
  ["0 0 30 2 *", "UTC", "2020-01-01T00:00:00Z", "2026-02-03T12:34:00Z", false],
])("%s in %s is due between %s and %s: %s", (cronExpression, timezone, after, until, due) => {
  expect(isDue(scheduleOf({ cronExpression, timezone }), at(after), at(until))).toBe(due);
});

it.each([
  "",
  "* * * *",
  "99 * * * * *",
  "* * * * * * *",
  "* * * * 5#6",
  "* * * * L#2",
  "* * LL * *",
  "60 * * * *",
  "5-1 * * * *",
  "*/0 * * * *",
  "a * * * *",
  "* * 0 * *",
  "* * * 13 *",
  "* * * * 8",
])("refuses %j", (cronExpression) => {
  expect(() => scheduleOf({ cronExpression })).toThrow(/cron expression|is invalid/);
});

it("refuses a time zone that is none, when it is enabled", () => {
  expect(() => scheduleOf({ cronExpression: "* * * * *", timezone: "Mars" })).toThrow(/Mars/);
});
