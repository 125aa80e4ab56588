import { describe, expect, it } from "vitest";
import { backfillTicks, maxBackfill } from "../../../domain/schedule/backfill.ts";
import { lastTicks, nextTick, parseTimer, parseWorkflowTimer, serverSchedule, tickAfter } from "../../../domain/schedule/schedule.ts";
import { dueAtWithJitter } from "../../../domain/schedule/timer-options.ts";
import { tickReasonOf } from "../../../domain/schedule/ticks.ts";

const minute = 60_000;
const hour = 60 * minute;

describe("options of timers", () => {
  it("makes a chain of a timer with jitter, catchUp, or an overlap other than allow", () => {
    const kindOf = (options: object) => serverSchedule(parseWorkflowTimer({ cron: "0 * * * *", ...options })).kind;
    expect(kindOf({})).toBe("cron");
    expect(kindOf({ overlap: "allow" })).toBe("cron");
    for (const options of [{ jitterSeconds: 1 }, { catchUp: 1 }, { overlap: "skip" }, { overlap: "queue" }, { overlap: "cancel" }])
      expect(kindOf(options)).toBe("chain");
  });

  it.each([
    [{ overlap: "never" }, 'overlap "never" is invalid: it must be allow, skip, queue, cancel'],
    [{ jitterSeconds: 0 }, "jitterSeconds 0 is invalid: it must be an integer from 1 to 86400"],
    [{ jitterSeconds: 60 }, "jitter of 60 seconds is invalid: it must be less than the 60 seconds between two ticks"],
    [{ catchUp: 101 }, "catchUp 101 is invalid: it must be an integer from 1 to 100"],
  ])("refuses %j", (options, message) => {
    expect(() => parseWorkflowTimer({ intervalSeconds: 60, ...options })).toThrow(message);
  });

  it("takes only jitter of a source's timer", () => {
    expect(parseTimer({ intervalSeconds: 60, jitter_seconds: 5, overlap: "never" })).toEqual({
      kind: "interval",
      intervalSeconds: 60,
      jitterSeconds: 5,
    });
  });

  it("spreads ticks of different timers over the jitter, and repeats the delay of each", () => {
    const timer = { jitterSeconds: 10 };
    const delays = Array.from({ length: 200 }, (_, number) => dueAtWithJitter(timer, `p_${number} timer-0`, hour) - hour);
    expect(delays.every((delay) => delay >= 0 && delay <= 10_000)).toBe(true);
    expect(new Set(delays.map((delay) => Math.floor(delay / 1_000))).size).toBeGreaterThan(8);
    expect(delays).toEqual(Array.from({ length: 200 }, (_, number) => dueAtWithJitter(timer, `p_${number} timer-0`, hour) - hour));
    expect(dueAtWithJitter({}, "p_1 timer-0", hour)).toBe(hour);
  });
});

describe("lastTicks", () => {
  it.each([
    { cron: "*/7 9-10 * * 1-5", timezone: "Europe/Berlin" },
    { cron: "30 2 * * *", timezone: "Europe/Berlin" },
    { cron: "0 0 29 2 *" },
    { intervalSeconds: 1_234 },
  ])("returns the end of all ticks, of %j", (timer) => {
    const schedule = parseTimer(timer);
    const from = Date.UTC(2026, 2, 27, 3, 4, 5);
    const to = from + 4 * 24 * hour;
    const all: number[] = [];
    for (let tick = tickAfter(schedule, from); tick <= to; tick = tickAfter(schedule, tick)) all.push(tick);
    for (const max of [1, 2, 5, 100]) expect(lastTicks(schedule, from, to, max)).toEqual(all.slice(-max));
    expect(lastTicks(schedule, from, to, 0)).toEqual([]);
    expect(lastTicks(schedule, to, from, 5)).toEqual([]);
  });
});

describe("backfillTicks", () => {
  it("includes the start of the range, and not its end", () => {
    const daily = parseTimer({ cron: "0 9 * * *" });
    const nine = Date.UTC(2026, 0, 1, 9);
    expect(backfillTicks(daily, nine, nine + 48 * hour)).toEqual([nine, nine + 24 * hour]);
    expect(backfillTicks(daily, nine + 1, nine + 24 * hour)).toEqual([]);
  });

  it("has the same ticks of an interval in each range", () => {
    const every = parseTimer({ intervalSeconds: 7 * 60 });
    const [whole, part] = [backfillTicks(every, 1, 3 * hour), backfillTicks(every, hour, 3 * hour)];
    expect(whole.slice(-part.length)).toEqual(part);
    expect(part[0]).toBe(nextTick(every, hour - 1));
  });

  it("stops one behind the maximum", () => {
    expect(backfillTicks(parseTimer({ cron: "* * * * *" }), 1, 1_000 * hour)).toHaveLength(maxBackfill + 1);
  });
});

it("says why a tick was skipped", () => {
  expect(tickReasonOf({ dueAt: 1, run: null })).toBe("earlier_tick_unfinished");
  expect(tickReasonOf({ dueAt: 1, run: null, skipReason: "missed" })).toBe("missed");
});

it("refuses a jitter that is longer than the shortest gap of a cron", () => {
  const timer = { cron: "0 1,10,11,12,13 * * *", jitterSeconds: 3_600 };
  expect(() => parseTimer(timer)).toThrow(/less than the 3600 seconds/);
  expect(parseTimer({ ...timer, jitterSeconds: 3_599 })).toMatchObject({ jitterSeconds: 3_599 });
});
