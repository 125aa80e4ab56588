import { Cron } from "croner";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextTick, parseTimer, secondsBetweenTicks, serverSchedule, type TimerSchedule } from "../../../domain/schedule/schedule.ts";

const day = 86_400_000;
const shifting = ["Europe/Berlin", "America/Santiago", "Australia/Lord_Howe", "America/New_York", "Africa/Casablanca"];
const crons = ["30 2 * * *", "30 1 * * *", "0 * * * *", "*/15 * * * *", "0 0 1 * *", "0 9 * * 1-5", "45 1,2 * * *", "0 0 * * 0"];

function walk(schedule: TimerSchedule, from: number, to: number): number[] {
  const ticks: number[] = [];
  for (let tick = nextTick(schedule, from); tick <= to; tick = nextTick(schedule, tick)) ticks.push(tick);
  return ticks;
}

function wallClock(ms: number, timeZone: string): string {
  return new Intl.DateTimeFormat("sv", { timeZone, dateStyle: "short", timeStyle: "short" }).format(ms);
}

describe("a cron timer", () => {
  test("ticks exactly at the times that croner lists, over clock changes", () => {
    const starts = [
      Date.UTC(2026, 2, 26),
      Date.UTC(2026, 3, 2),
      Date.UTC(2026, 8, 3),
      Date.UTC(2026, 9, 1),
      Date.UTC(2026, 9, 22),
      Date.UTC(2026, 10, 1),
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...shifting),
        fc.constantFrom(...crons),
        fc.constantFrom(...starts),
        fc.nat(day),
        (timezone, cron, start, offset) => {
          const from = start + offset;
          const ticks = walk(parseTimer({ cron, timezone }), from, from + 6 * day);
          const listed = new Cron(cron, { timezone, mode: "5-part" })
            .nextRuns(ticks.length + 1, new Date(from))
            .map((date) => date.getTime());
          expect(ticks).toEqual(listed.slice(0, ticks.length));
          expect(listed.at(-1)).toBeGreaterThan(from + 6 * day);
        },
      ),
      { numRuns: 60 },
    );
  });

  test.each(shifting)("at a fixed time ticks once on each day of two years in %s", (timezone) => {
    for (const cron of ["30 2 * * *", "0 0 * * *", "30 1 * * *"]) {
      const ticks = walk(parseTimer({ cron, timezone }), Date.UTC(2026, 0, 1, 12), Date.UTC(2027, 11, 31, 12));
      const days = ticks.map((tick) => wallClock(tick, timezone).slice(0, 10));
      expect(new Set(days).size).toBe(days.length);
      expect(days).toHaveLength(729);
    }
  });

  test("ticks at the end of the gap, and once in the overlap", () => {
    const berlin = parseTimer({ cron: "30 2 * * *", timezone: "Europe/Berlin" });
    expect(wallClock(nextTick(berlin, Date.UTC(2026, 2, 28, 12)), "Europe/Berlin")).toMatch(/^2026-03-29 03:/);
    const overlap = walk(berlin, Date.UTC(2026, 9, 24, 12), Date.UTC(2026, 9, 25, 12));
    expect(overlap).toHaveLength(1);
  });

  test("has its next tick strictly after the time asked from, also between seconds", () => {
    const hourly = parseTimer({ cron: "0 * * * *" });
    const noon = Date.UTC(2026, 0, 1, 12);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_600_000 }), (before) => {
        expect(nextTick(hourly, noon - before)).toBe(noon);
      }),
    );
    expect(nextTick(hourly, noon)).toBe(noon + 3_600_000);
  });

  test.each([
    ["0 0 * * 7", "0 0 * * 0"],
    ["*/1 * */1 * *", "* * * * *"],
    ["0 0 * * 5-7", "0 0 * * 5,6,0"],
    ["0 0 * * FRI-sun", "0 0 * * 5,6,0"],
    ["0  0 1 JAN MON", "0 0 1 1 1"],
    ["0 0 ? * ?", "0 0 * * *"],
    ["*,5 * * * *", "* * * * *"],
    ["1,1,2 0-6/2 * * *", "1,2 0-6/2 * * *"],
    ["0 0 * * 1-7/2", "0 0 * * 1,3,5,0"],
    ["05 08 * * *", "5 8 * * *"],
  ])("%j is normalized to %j and ticks alike", (cron, normalized) => {
    expect(parseTimer({ cron })).toEqual({ kind: "cron", cron: normalized, timezone: "UTC" });
  });

  test.each([
    ["61 * * * *", "cron '61 * * * *' is invalid: minute must be 0 to 59"],
    ["* 24 * * *", "hour must be 0 to 23"],
    ["* * 0 * *", "day of month must be 1 to 31"],
    ["* * * 13 *", "month must be 1 to 12 or jan to dec"],
    ["* * * * 8", "day of week must be 0 to 7 or sun to sat"],
    ["* * * * * *", "it has 6 fields and must have 5"],
    ["", "it has 0 fields"],
    ["*/0 * * * *", "the step of minute must be 1 to 60"],
    ["*/90 * * * *", "the step of minute must be 1 to 60"],
    ["5/15 * * * *", "write 5-59/15"],
    ["30-10 * * * *", "runs backwards"],
    ["0 0 L * *", "day of month must be"],
    ["0 0 * * 1#2", "is none of"],
    ["0 0 15W * *", "day of month must be"],
    ["0 0 30 2 *", "it would never tick"],
    ["1,,2 * * * *", "is none of"],
    ["? * * * *", "minute must be 0 to 59"],
    ["-1 * * * *", "is none of"],
    ["@daily", "it has 1 fields"],
  ])("%j is refused: %s", (cron, message) => {
    expect(() => parseTimer({ cron })).toThrow(message);
  });

  test("agrees with croner on every accepted expression", () => {
    const value = (min: number, max: number): fc.Arbitrary<string> =>
      fc.oneof(
        fc.constant("*"),
        fc.integer({ min, max }).map(String),
        fc.integer({ min: 1, max: 9 }).map((n) => `*/${n}`),
        fc.tuple(fc.integer({ min, max }), fc.integer({ min, max })).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
        fc.array(fc.integer({ min, max }).map(String), { minLength: 2, maxLength: 3 }).map((list) => list.join(",")),
      );
    fc.assert(
      fc.property(
        value(0, 59),
        value(0, 23),
        value(1, 28),
        value(1, 12),
        value(0, 7),
        fc.integer({ min: 0, max: 700 }),
        (m, h, dom, mon, dow, days) => {
          // Croner reads a step of 1 as a restriction of the day; we, like NATS, read a star.
          const cron = [m, h, dom === "*/1" ? "*" : dom, mon, dow === "*/1" || /\/[89]$/.test(dow) ? "*" : dow].join(" ");
          const from = Date.UTC(2026, 0, 1) + days * day;
          expect(nextTick(parseTimer({ cron }), from)).toBe(
            new Cron(cron, { mode: "5-part", timezone: "UTC" }).nextRun(new Date(from))?.getTime(),
          );
        },
      ),
    );
  });
});

describe("an interval timer", () => {
  test("ticks at whole multiples after it was armed", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), fc.nat(1e9), fc.nat(1e9), (intervalSeconds, armedAt, later) => {
        const tick = nextTick({ kind: "interval", intervalSeconds }, armedAt + later, armedAt);
        expect((tick - armedAt) % (intervalSeconds * 1000)).toBe(0);
        expect(tick).toBeGreaterThan(armedAt + later);
        expect(tick - intervalSeconds * 1000).toBeLessThanOrEqual(armedAt + later);
      }),
    );
    expect(nextTick({ kind: "interval", intervalSeconds: 15 }, 0, 100_000)).toBe(115_000);
  });

  test.each([0, -1, 1.5, 366 * 86_400 + 1, "1.5", "x", true, [], Number.NaN])("intervalSeconds %j is refused", (intervalSeconds) => {
    expect(() => parseTimer({ intervalSeconds })).toThrow("must be an integer from 1 to 31622400");
  });
});

describe("the value of a timer prop", () => {
  test("is an interval in either spelling, or a cron with a zone", () => {
    expect(parseTimer({ intervalSeconds: 900 })).toEqual({ kind: "interval", intervalSeconds: 900 });
    expect(parseTimer({ interval_seconds: "900", cron: null })).toEqual({ kind: "interval", intervalSeconds: 900 });
    expect(parseTimer({ cron: "0 9 * * *", timezone: "europe/berlin" })).toEqual({
      kind: "cron",
      cron: "0 9 * * *",
      timezone: "Europe/Berlin",
    });
  });
  test.each([undefined, null, 5, "x", [], {}, { cron: 5 }, { cron: null, interval_seconds: null }])("%j is refused", (value) => {
    expect(() => parseTimer(value)).toThrow(/^timer .* is invalid/);
  });
  test.each(["Mars/Base", "+02:00", "", "us/eastern"])("timezone %j is refused", (timezone) => {
    expect(() => parseTimer({ cron: "* * * * *", timezone })).toThrow("must be a name of the IANA database");
  });
});

test("NATS repeats a cron schedule in a zone without clock changes; in other zones each tick schedules the next", () => {
  expect(serverSchedule(parseTimer({ intervalSeconds: 15 }))).toEqual({ kind: "every", every: "15s" });
  for (const timezone of ["UTC", "Etc/GMT+5", "Asia/Tokyo", "Asia/Kolkata", "America/Phoenix"]) {
    expect(serverSchedule(parseTimer({ cron: "*/5 * * * 1-5", timezone }))).toEqual({
      kind: "cron",
      cron: "0 */5 * * * 1-5",
      timezone,
    });
  }
  for (const timezone of shifting) expect(serverSchedule(parseTimer({ cron: "0 9 * * *", timezone }))).toEqual({ kind: "chain" });
});

describe("secondsBetweenTicks", () => {
  test.each([
    [{ intervalSeconds: 15 }, 15],
    [{ cron: "*/5 * * * *" }, 300],
    [{ cron: "0 9 * * *", timezone: "Europe/Berlin" }, 86_400],
    [{ cron: "0 9 * * 1-5", timezone: "Pacific/Auckland" }, 86_400],
    [{ cron: "0 9,17 * * *" }, 8 * 3_600],
    [{ cron: "30 2 * * 0", timezone: "America/Santiago" }, 7 * 86_400],
    [{ cron: "0 0 29 2 *" }, 4 * 365.25 * 86_400],
  ])("of %j are %i", (timer, seconds) => {
    expect(secondsBetweenTicks(parseTimer(timer))).toBe(seconds);
  });

  test("are a positive integer for every cron", () => {
    fc.assert(
      fc.property(fc.constantFrom(...shifting), fc.constantFrom(...crons), (timezone, cron) => {
        const seconds = secondsBetweenTicks(parseTimer({ cron, timezone }));
        expect(Number.isInteger(seconds) && seconds > 0).toBe(true);
      }),
    );
  });

  test("are ignored in a timer that also has cron", () => {
    const shown = { cron: "0 9 * * *", interval_seconds: 86_400, timezone: "Europe/Berlin" };
    expect(parseTimer(shown)).toEqual({ kind: "cron", cron: "0 9 * * *", timezone: "Europe/Berlin" });
    expect(() => parseTimer({ cron: "0 9 * * *", intervalSeconds: 60 })).toThrow("give one of them");
  });
});
