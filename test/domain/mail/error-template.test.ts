import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { errorTemplate } from "../../../domain/mail/error-template.ts";

describe("errorTemplate", () => {
  test.each([
    ["Request failed with status code 404", "Request failed with status code 500"],
    ["connect ECONNREFUSED 10.0.0.1:5432", "connect ECONNREFUSED 192.168.17.3:443"],
    ["order 17 of u_12ab34 is missing", "order 4,711 of u_9z8y7x is missing"],
    ["GET https://api.example.com/a?b=1 timed out", "GET http://other.example/c timed out"],
    [`column "name" does not exist`, `column "first name" does not exist`],
    ["Cannot read properties of undefined (reading 'id')", "Cannot read properties of undefined (reading 'a b')"],
    ["no such bucket: `a`, key “x”", "no such bucket: `b`, key “y”"],
    ["at 2026-11-23T10:00:00.123Z: late", "at 2025-01-01 09:59:59: late"],
    ["at 10:00: late", "at 23:59:59.5: late"],
    ["unknown 7d793037-a076-4671-97e2-e4dc0f5ca0b4", "unknown 00000000-0000-0000-0000-000000000000"],
    ["commit deadbeefcafe is gone", "commit 0123456789abcdef is gone"],
    ["mail to ada@example.com failed", "mail to grace.hopper+x@navy.mil failed"],
    ["took 17ms\nin step  3", "took 9ms in step 12"],
    ["-5 is negative", "-17.5 is negative"],
    ["doesn't know 'a'", "doesn't know 'b c'"],
  ])("is the same for %j and %j", (one, other) => {
    expect(errorTemplate(one)).toBe(errorTemplate(other));
  });

  test.each([
    ["order is missing", "order is late"],
    ["ECONNREFUSED 10.0.0.1", "ETIMEDOUT 10.0.0.1"],
    ["isn't a number", "isn't a string"],
    ["key is read-only", "key is write-only"],
    ["'a' is not valid", "'a' is not known"],
  ])("differs for %j and %j", (one, other) => {
    expect(errorTemplate(one)).not.toBe(errorTemplate(other));
  });

  test("shows the fixed parts of a message", () => {
    expect(errorTemplate("Order 17 of 'Ada' at https://a.example/b?c=d failed with E42 at 2026-11-23T10:00:00Z")).toBe(
      "Order <number> of <text> at <url> failed with <id> at <time>",
    );
  });

  test("reads a bounded part of a message of 1 MB, in milliseconds for texts that match badly", () => {
    for (const text of ["a", "'", '"', "“", "@", "0", "1:", "a0", "-", "http:", " '", "<number>."]) {
      const started = process.cpuUsage();
      expect(errorTemplate(text.repeat(1_000_000)).length).toBeLessThanOrEqual(500);
      expect(process.cpuUsage(started).user / 1_000).toBeLessThan(200);
    }
  });

  test("is stable, bounded and well-formed for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii" }), (text) => {
        const template = errorTemplate(text);
        expect(template).toBe(errorTemplate(text));
        expect(template.isWellFormed()).toBe(true);
      }),
    );
  });

  test("ignores which number a message contains", () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer(), (one, other) => {
        expect(errorTemplate(`failed after ${one} attempts`)).toBe(errorTemplate(`failed after ${other} attempts`));
      }),
    );
  });
});
