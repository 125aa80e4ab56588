import { describe, expect, it } from "vitest";
import type { TracedRun, TracedStep } from "../../../domain/trace/records.ts";
import { stepSpans } from "../../../domain/trace/step-spans.ts";

const run: TracedRun = {
  id: "r_1",
  emitter: "p_1",
  deployment: "d_1",
  trigger: "http",
  hook: null,
  status: "succeeded",
  startedAt: 0,
  endedAt: 10_000,
  resumeAt: null,
  queuedMs: null,
  startMs: null,
  cpuMs: null,
  cause: null,
  repeats: null,
  traceId: null,
};
let number = 0;
const step = (name: string, startedAt: number, more: Partial<TracedStep> = {}): TracedStep => ({
  number: ++number,
  id: `c_${name}`,
  name,
  attempt: 1,
  startedAt,
  durationMs: 10,
  cpuMs: 2,
  outcome: "succeeded",
  ...more,
});
/** `kind name status from-until`, below a step `- kind name …`. */
const lines = (steps: readonly TracedStep[], of: TracedRun = run): readonly string[] =>
  stepSpans(of, steps).flatMap(({ span, children }) =>
    [span, ...children].map(
      ({ kind, name, status = "", startedAt, endedAt }, index) =>
        `${index === 0 ? "" : "- "}${kind} ${name} ${status} ${startedAt}-${endedAt ?? ""}`,
    ),
  );

describe("stepSpans", () => {
  it("makes one span of a step with one attempt", () => {
    expect(lines([step("a", 0), step("b", 20)])).toEqual(["step a succeeded 0-10", "step b succeeded 20-30"]);
  });

  it("puts the attempts of a step below it, with the waits between them", () => {
    const retried = [step("a", 0, { outcome: "retried" }), step("a", 500, { attempt: 2, outcome: "failed" })];
    expect(lines(retried, { ...run, status: "failed" })).toEqual([
      "step a failed 0-510",
      "- attempt Attempt 1 failed 0-10",
      "- attempt Attempt 2 failed 500-510",
      "- wait Wait before the next attempt  10-500",
    ]);
  });

  it("executes a step in a loop again with attempt 1: another span", () => {
    expect(lines([step("a", 0), step("a", 20), step("a", 40, { outcome: "retried" }), step("a", 90, { attempt: 2 })])).toHaveLength(6);
  });

  it("lets a suspension last until the next step, the end of the run, or without an end", () => {
    const suspended = step("a", 0, { outcome: "suspended" });
    expect(lines([suspended, step("b", 300)])).toContain("- wait Suspended  10-300");
    expect(lines([suspended])).toContain("- wait Suspended  10-10000");
    expect(lines([suspended], { ...run, status: "suspended", endedAt: null })).toEqual([
      "step a waiting 0-10",
      "- wait Suspended waiting 10-",
    ]);
  });

  it("names the commits by which a step may have called a run", () => {
    const attempts = [step("a", 0, { outcome: "retried" }), step("a", 500, { attempt: 2 })];
    expect(stepSpans(run, attempts)[0]?.commits).toEqual(attempts.map((each) => each.number));
  });
});
