import fc from "fast-check";
import { expect, test } from "vitest";
import { maxAttempts, maxRetryAfterMs, nextAttempt, parseRetryAfter } from "../../../domain/delivery/retry-schedule.ts";

const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const hour = 3_600_000;

test("ten attempts span about a day, each wait longer than the previous one", () => {
  expect(maxAttempts).toBe(10);
  fc.assert(
    fc.property(fc.array(random, { minLength: 9, maxLength: 9 }), (jitters) => {
      const waits = jitters.map((r, i) => nextAttempt(i + 1, r) ?? Number.NaN);
      for (let i = 1; i < waits.length; i++) expect(waits[i]).toBeGreaterThan(waits[i - 1] ?? Number.NaN);
      const total = waits.reduce((sum, wait) => sum + wait, 0);
      expect(total).toBeGreaterThan(20 * hour);
      expect(total).toBeLessThan(26 * hour);
    }),
  );
  expect(nextAttempt(1, 0.5)).toBe(5_000);
  expect(nextAttempt(maxAttempts, 0)).toBeUndefined();
});

test("Retry-After lengthens a wait up to its bound and never shortens it", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), random, fc.nat(100 * hour), (attempt, r, retryAfter) => {
      expect(nextAttempt(attempt, r, retryAfter)).toBe(Math.max(nextAttempt(attempt, r) ?? 0, Math.min(retryAfter, maxRetryAfterMs)));
    }),
  );
});

test("Retry-After is seconds or a date", () => {
  const now = Date.UTC(2026, 10, 21, 12);
  expect(parseRetryAfter("120", now)).toBe(120_000);
  expect(parseRetryAfter("Sat, 21 Nov 2026 12:01:00 GMT", now)).toBe(60_000);
  expect(parseRetryAfter("Sat, 21 Nov 2026 11:00:00 GMT", now)).toBe(0);
  for (const text of ["", "soon", "-5", "1.5", "99999999999999"]) expect(parseRetryAfter(text, now)).toBeUndefined();
});
