import { expect, it } from "vitest";
import { parseWorkflowTimer } from "../../domain/schedule/schedule.ts";
import { tickOf } from "../../operator/tick.ts";

const minute = 60_000;
const now = Date.UTC(2026, 0, 5, 12, 0, 30);
const first = (timer: object, offSince?: number) => {
  const schedule = parseWorkflowTimer({ cron: "* * * * *", ...timer });
  return tickOf({ source: "p_1", prop: "timer-0", generation: 2, schedule, ...(offSince === undefined ? {} : { offSince }) }, now);
};

it("leaves a timer without options to NATS", () => {
  expect(first({})).not.toHaveProperty("chain");
});

it("begins with the next tick", () => {
  expect(first({ overlap: "skip" })).toMatchObject({ chain: "timer-0", at: Date.UTC(2026, 0, 5, 12, 1) });
  expect(first({ overlap: "skip" }, now - 60 * minute).at).toBe(Date.UTC(2026, 0, 5, 12, 1));
});

it("begins with the first of the last missed ticks of a workflow that was off", () => {
  expect(first({ catchUp: 3 }, now - 60 * minute).at).toBe(Date.UTC(2026, 0, 5, 11, 58));
  expect(first({ catchUp: 100 }, now - 2 * minute).at).toBe(Date.UTC(2026, 0, 5, 11, 59));
  expect(first({ catchUp: 3 }, now - 1_000).at).toBe(Date.UTC(2026, 0, 5, 12, 1));
});

it("has a due time behind the tick with jitter", () => {
  const { at = 0, dueAt = 0 } = first({ jitterSeconds: 59 });
  expect(dueAt).toBeGreaterThan(at);
  expect(dueAt).toBeLessThanOrEqual(at + 59_000);
});
