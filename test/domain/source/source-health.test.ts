import { describe, expect, it } from "vitest";
import { healthOf, progressReasons, type DeploymentVerdict, type FailedRuns } from "../../../domain/source/source-health.ts";

const ready: DeploymentVerdict = { isReady: true, reason: "Deployed", message: "built, hooks run, timers scheduled", since: 1_000 };
const refused: DeploymentVerdict = { isReady: false, reason: "UpdateFailed", message: "hook activate failed", since: 2_000 };
const disabled: DeploymentVerdict = { isReady: false, reason: "SourceDisabled", message: "three runs cost their process", since: 3_000 };
const failing: FailedRuns = { deployment: "d_1", count: 1, since: 4_000, error: { name: "TypeError", message: "x is undefined" } };

const health = (given: Partial<Parameters<typeof healthOf>[0]>) =>
  healthOf({ isActive: true, verdict: ready, deployment: "d_1", ...given });

describe("the health of a source", () => {
  it("is active when it is deployed and its last run succeeded, or when it has not run yet", () => {
    expect(health({})).toEqual({ state: "active", problem: undefined });
  });

  it("is deploying until the operator has seen the current spec", () => {
    expect(health({ verdict: undefined })).toEqual({ state: "deploying", problem: undefined });
  });

  it.each(progressReasons)("is deploying without a problem for the reason %s", (reason) => {
    expect(health({ verdict: { ...refused, reason } })).toEqual({ state: "deploying", problem: undefined });
  });

  it.each([
    ["HookFailed", "hook_failed"],
    ["UpdateFailed", "update_failed"],
    ["InvalidProps", "invalid_props"],
    ["SecretNotFound", "secret_not_found"],
    ["HookOverdue", "hook_overdue"],
  ])("is failing for the reason %s, with the code %s", (reason, code) => {
    const problem = { code, message: "hook activate failed", since: 2_000 };
    expect(health({ verdict: { ...refused, reason } })).toEqual({ state: "failing", problem });
  });

  it("is disabled when runners refuse to run it, whether the operator has reported that or only the last run shows it", () => {
    expect(health({ verdict: disabled })).toEqual({
      state: "disabled",
      problem: { code: "source_disabled", message: "three runs cost their process", since: 3_000 },
    });
    const error = { name: "SourceDisabled", code: "source_disabled", message: "three runs cost their process" };
    expect(health({ failing: { ...failing, error } })).toEqual({
      state: "disabled",
      problem: { code: "source_disabled", message: "three runs cost their process", since: 4_000 },
    });
  });

  it("is failing from the first failed run, and reports since when runs have failed in a row", () => {
    expect(health({ failing })).toEqual({
      state: "failing",
      problem: { code: "run_failed", message: "the last run failed: TypeError: x is undefined", since: 4_000 },
    });
    const error = { name: "RunTimeout", code: "run_timeout", message: "the run took longer than 30 s" };
    expect(health({ failing: { ...failing, count: 7, error } }).problem).toEqual({
      code: "run_timeout",
      message: "the last 7 runs failed: RunTimeout: the run took longer than 30 s",
      since: 4_000,
    });
  });

  it("is active again once another deployment runs, until that one fails", () => {
    expect(health({ failing, deployment: "d_2" }).state).toBe("active");
    expect(health({ failing, deployment: undefined }).state).toBe("active");
  });

  it("reports a failed update before failed runs", () => {
    expect(health({ verdict: refused, failing }).problem?.code).toBe("update_failed");
  });

  it("is paused whatever the results of its runs, and names the reason why it cannot be deployed", () => {
    expect(health({ isActive: false, failing })).toEqual({ state: "paused", problem: undefined });
    expect(health({ isActive: false, verdict: undefined })).toEqual({ state: "paused", problem: undefined });
    expect(health({ isActive: false, verdict: refused })).toMatchObject({ state: "paused", problem: { code: "update_failed" } });
  });

  it("shows the first line of an error, at most 500 characters of it", () => {
    const message = `${"x".repeat(2_000)}\nsecond line`;
    const shown = health({ failing: { ...failing, error: { name: "Error", message } } }).problem?.message ?? "";
    expect(shown.length).toBeLessThanOrEqual(500);
    expect(shown).toMatch(/^the last run failed: Error: x+…$/);
  });
});
