import { describe, expect, test } from "vitest";
import { errorMail, type ErrorReport } from "../../../domain/mail/error-mail.ts";
import type { ErrorOccurrence } from "../../../domain/mail/error-occurrence.ts";

const at = Date.UTC(2026, 10, 23, 10, 0, 0);

const occurrence: ErrorOccurrence = {
  emitter: "p_orders",
  owner: "u_ada",
  name: "Orders",
  run: "r_1",
  at,
  code: "TypeError",
  message: "no total",
  step: { id: "c_sum", name: "sum" },
};
const report = (given: Partial<ErrorOccurrence> = {}, more: Partial<ErrorReport> = {}): ErrorReport => ({
  first: { ...occurrence, ...given },
  count: 1,
  lastAt: at,
  mailedAt: null,
  isOverflow: false,
  ...more,
});
const mailOf = (given?: Partial<ErrorOccurrence>, more?: Partial<ErrorReport>) => errorMail(report(given, more), "https://hw.example");

describe("errorMail", () => {
  test("names the workflow, the error, the step and the time, links to the run, and says how to get no more", () => {
    const { subject, text } = mailOf();
    expect(subject).toBe("[Headwater] Orders: TypeError: no total");
    expect(text).toBe(`A run of this workflow failed:

TypeError: no total

Workflow: Orders (p_orders)
Step: sum (c_sum)
When: 2026-11-23 10:00:00 UTC
Run: https://hw.example/workflows/p_orders?tab=runs&run=r_1

-- 
You get at most one mail in 24 hours for each different error of a workflow; repetitions are counted. To get no more mails like this, send {"settings": {"error_mails": false}} to PUT /v1/workflows/p_orders. For no mails at all, send {"error_mails": false} to PUT /v1/users/me.`);
  });

  test("counts repetitions before the mail was sent", () => {
    expect(mailOf({}, { count: 100, lastAt: at + 60_000 }).text).toContain(
      "It has happened 100 times, the last time at 2026-11-23 10:01:00 UTC.",
    );
  });

  test("says in a digest how often the error has happened since the last mail", () => {
    expect(mailOf({}, { count: 12, lastAt: at + 60_000, mailedAt: at - 86_400_000 }).text).toContain(
      "Since the last mail at 2026-11-22 10:00:00 UTC, it has happened 12 times, the last time at 2026-11-23 10:01:00 UTC.",
    );
  });

  test("links to the run of a source, and names the account of an organization", () => {
    const { subject, text } = mailOf({ emitter: "dc_feed", owner: "o_acme", name: null, step: null });
    expect(subject).toBe("[Headwater] dc_feed: TypeError: no total");
    expect(text).toContain("Run: https://hw.example/sources/dc_feed?org=o_acme&tab=runs&run=r_1");
    expect(text).toContain("PUT /v1/orgs/o_acme");
    expect(text).not.toContain("Step");
  });

  test("escapes everything that users wrote, in HTML", () => {
    const hostile = `<img src=x onerror="alert('1')">&amp;`;
    const { html } = mailOf({ name: hostile, message: hostile, code: hostile, step: { id: hostile, name: hostile }, run: hostile });
    expect(html).not.toContain("<img");
    expect(html).not.toContain("alert('");
    expect(html?.match(/&lt;img/gu)?.length).toBeGreaterThan(3);
  });

  test("keeps the subject in one line", () => {
    expect(mailOf({ message: "one\r\nBcc: mallory@example.com" }).subject).toBe(
      "[Headwater] Orders: TypeError: one Bcc: mallory@example.com",
    );
  });

  test("adds no lines of its own for a name with line breaks", () => {
    expect(mailOf({ name: "Orders\nRun: https://evil.example" }).text).not.toMatch(/^Run: https:\/\/evil/mu);
  });
});
