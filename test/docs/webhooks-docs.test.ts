import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { maxAttempts, maxRetryAfterMs, nextAttempt } from "../../domain/delivery/retry-schedule.ts";
import { blocks, testVerifiers } from "./verifier-tests.ts";
import { languages } from "./verifiers.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/webhooks.md"), "utf8");

testVerifiers(languages.slice(0, 1));

describe("docs/webhooks.md", () => {
  it("has code only in tested languages and the shell", () => {
    const fences = blocks.map(({ language }) => language).filter((fence) => !["sh", "text", "json", "yaml", "sql"].includes(fence));
    expect(fences).toEqual(languages.map(({ fence }) => fence));
  });

  it("lists the delays of the retry schedule and the time of each attempt", () => {
    const units: Readonly<Record<string, number>> = { s: 1_000, min: 60_000, h: 3_600_000 };
    const span = (text: string): number => {
      const [number = "", unit = ""] = text.split(" ");
      return Number(number) * (units[unit] ?? Number.NaN);
    };
    const rows = [...page.matchAll(/^\| (\d+) \| (\d+ \w+) \| ([\d.]+ \w+) \|$/gm)];
    expect(rows.map(([, attempt]) => Number(attempt))).toEqual(Array.from({ length: maxAttempts - 1 }, (_, index) => index + 2));
    let sinceFirst = 0;
    for (const [row, attempt, wait = "", since = ""] of rows) {
      const waitMs = nextAttempt(Number(attempt) - 1, 0.5) ?? 0;
      sinceFirst += waitMs;
      expect(span(wait), row).toBe(waitMs);
      // Rounded to what is said.
      expect(Math.abs(span(since) - sinceFirst) / sinceFirst, row).toBeLessThan(0.05);
    }
  });

  it("recommends keeping ids as long as attempts may be made", () => {
    const dayMs = 86_400_000;
    const waits = (retryAfterMs: number): number =>
      Array.from({ length: maxAttempts - 1 }, (_, index) => nextAttempt(index + 1, 1, retryAfterMs) ?? 0).reduce((sum, wait) => sum + wait);
    const text = page.replaceAll(/\s+/g, " ");
    expect(text).toContain("Keep ids for two days, because all attempts are made within little more than one");
    expect(waits(0)).toBeLessThan(2 * dayMs);
    expect(text).toContain("for five, if your endpoint extends the waits by `Retry-After`");
    expect(waits(maxRetryAfterMs)).toBeLessThan(5 * dayMs);
  });
});
