import { describe, expect, it } from "vitest";
import { webhookHealth, type WebhookOutcomes } from "../../../domain/delivery/webhook-health.ts";

const target = { id: "wh_1", url: "https://example.com/" };
const ready = { isReady: true, reason: "Active", message: "", since: 0 };
const lastError = { name: "Error", message: "the endpoint answered 503" };
const fine: WebhookOutcomes = { position: 1, total: 20, failed: undefined, failing: undefined, lastError: undefined, failures: undefined };
const failing: WebhookOutcomes = {
  ...fine,
  failed: { count: 3, since: 5_000 },
  failing: { count: 3, since: 5_000 },
  lastError,
};
const failures = { webhook: "wh_1", url: target.url, since: 4_000, last: 9_000 };
const of = (given: Partial<Parameters<typeof webhookHealth>[0]>) =>
  webhookHealth({ target, isActive: true, verdict: ready, disabled: undefined, outcomes: undefined, now: 10_000, ...given });

describe("the health of a webhook", () => {
  it("is active before the first attempt, and while enough of them succeed", () => {
    for (const outcomes of [undefined, fine, { ...fine, failed: { count: 1, since: 1 }, lastError }])
      expect(of({ outcomes })).toEqual({ state: "active", problem: undefined, circuitOpenUntil: undefined });
  });

  it("is failing after a failed attempt, since the first failure that delivery has recorded", () => {
    const problem = { code: "attempt_failed", message: "the last 3 attempts failed: the endpoint answered 503", since: 5_000 };
    expect(of({ outcomes: failing })).toEqual({ state: "failing", problem, circuitOpenUntil: undefined });
    expect(of({ outcomes: { ...failing, failures } }).problem).toEqual({ ...problem, since: 4_000 });
    const once = { ...failing, failing: { count: 1, since: 5_000 } };
    expect(of({ outcomes: once }).problem?.message).toBe("the last attempt failed: the endpoint answered 503");
  });

  it("has an open circuit until a success, with the time of the next attempt only while that is in the future", () => {
    const open = { ...failing, failures: { ...failures, circuitOpenUntil: 12_000 } };
    expect(of({ outcomes: open })).toEqual({
      state: "circuit_open",
      problem: {
        code: "circuit_open",
        message: expect.stringMatching(/^the last 3 attempts failed: .* The circuit is open: /),
        since: 4_000,
      },
      circuitOpenUntil: 12_000,
    });
    expect(of({ outcomes: open, now: 12_000 })).toMatchObject({ state: "circuit_open", circuitOpenUntil: undefined });
    expect(of({ outcomes: { ...open, failing: undefined } }).state).toBe("degraded");
  });

  it("does not count failures of another URL, or from before it was enabled", () => {
    const open = { ...failing, failures: { ...failures, circuitOpenUntil: 12_000 } };
    for (const changed of [
      { ...target, url: "https://example.com/other" },
      { ...target, enabledAt: 4_500 },
    ])
      expect(of({ target: changed, outcomes: open })).toMatchObject({ state: "failing", problem: { since: 5_000 } });
  });

  it("is degraded below a success rate of 95 percent, though the last attempt succeeded", () => {
    expect(of({ outcomes: { ...fine, failed: { count: 2, since: 3_000 }, lastError } })).toMatchObject({
      state: "degraded",
      problem: { code: "attempts_failed", message: expect.stringMatching(/^2 of the last 20 attempts failed /), since: 3_000 },
    });
  });

  it("is failing with the reason why nothing can be posted, except while its key is being stored", () => {
    const forbidden = { isReady: false, reason: "UrlForbidden", message: "egress is denied", since: 7_000 };
    expect(of({ verdict: forbidden, outcomes: fine })).toMatchObject({
      state: "failing",
      problem: { code: "url_forbidden", message: "egress is denied", since: 7_000 },
    });
    expect(of({ verdict: { ...forbidden, reason: "SigningKeyChanging" } }).state).toBe("active");
    expect(of({ verdict: undefined }).state).toBe("active");
  });

  it("is disabled with the reason, and paused without a problem when its owner has switched it off", () => {
    const disabled = { at: 8_000, reason: "EndpointGone", message: "it answered 410" } as const;
    expect(of({ disabled, outcomes: failing })).toMatchObject({
      state: "disabled",
      problem: { code: "endpoint_gone", message: "it answered 410", since: 8_000 },
    });
    expect(of({ isActive: false, disabled, outcomes: failing })).toEqual({
      state: "paused",
      problem: undefined,
      circuitOpenUntil: undefined,
    });
  });
});
