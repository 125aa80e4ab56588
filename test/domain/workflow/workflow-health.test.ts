import { describe, expect, it } from "vitest";
import { successRate, type RecentOutcomes } from "../../../domain/outcomes.ts";
import { workflowHealth } from "../../../domain/workflow/workflow-health.ts";

const ready = { isReady: true, reason: "Deployed", message: "", since: 0 };
const lastError = { name: "TypeError", message: "x is undefined" };
const fine: RecentOutcomes = { position: 1, total: 10, failed: undefined, failing: undefined, lastError: undefined };
const of = (given: Partial<Parameters<typeof workflowHealth>[0]>) =>
  workflowHealth({ isActive: true, verdict: ready, deployment: "d_1", recent: undefined, ...given });

describe("the health of a workflow", () => {
  it("is active without runs, and while enough of them succeed", () => {
    for (const recent of [undefined, fine]) expect(of({ recent })).toEqual({ state: "active", problem: undefined });
  });

  it("is failing after a failed run, with its error", () => {
    const recent = { ...fine, failed: { count: 2, since: 3_000 }, failing: { count: 2, since: 3_000 }, lastError };
    expect(of({ recent })).toEqual({
      state: "failing",
      problem: { code: "run_failed", message: "the last 2 runs failed: TypeError: x is undefined", since: 3_000 },
    });
    expect(of({ recent: { ...recent, lastError: { ...lastError, code: "run_timeout" } } }).problem?.code).toBe("run_timeout");
  });

  it("is degraded if too few of its recent runs succeeded", () => {
    expect(of({ recent: { ...fine, failed: { count: 1, since: 3_000 }, lastError } })).toEqual({
      state: "degraded",
      problem: {
        code: "runs_failed",
        message: "1 of the last 10 runs failed within an hour, the last of them: TypeError: x is undefined",
        since: 3_000,
      },
    });
  });

  it("is failing with the reason why it cannot be deployed, deploying in the meantime, and paused when switched off", () => {
    const missing = { isReady: false, reason: "SourceNotFound", message: "triggers[0]: source dc_1 is not found", since: 7_000 };
    expect(of({ verdict: missing })).toEqual({
      state: "failing",
      problem: { code: "source_not_found", message: "triggers[0]: source dc_1 is not found", since: 7_000 },
    });
    expect(of({ verdict: undefined }).state).toBe("deploying");
    expect(of({ isActive: false, verdict: missing })).toMatchObject({ state: "paused", problem: { code: "source_not_found" } });
  });
});

describe("a success rate", () => {
  it("is a share to three digits, and undefined without recent outcomes", () => {
    expect([undefined, { ...fine, total: 0 }, fine].map((recent) => successRate(recent))).toEqual([undefined, undefined, 1]);
    expect(successRate({ ...fine, total: 3, failed: { count: 1, since: 0 } })).toBe(0.667);
  });
});
