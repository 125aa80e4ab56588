import { expect, it, vi } from "vitest";
import { defaultWorkflowSettings, type WorkflowSettings } from "../../../domain/workflow/deployment.ts";
import { RunLimits, type KnownWorkflow } from "../../../runner/schedule/run-limits.ts";

/** Limits with a simulated clock. `admitted` has the keys of queues that had to wait, in order. */
function limited(settings: Partial<WorkflowSettings>) {
  const admitted: string[] = [];
  const known: KnownWorkflow = { settings: { ...defaultWorkflowSettings, ...settings }, active: true };
  const state = { now: 0, known: known as KnownWorkflow | undefined };
  const lookup = { find: () => state.known, load: () => Promise.resolve(state.known) };
  const limits = new RunLimits(lookup, () => state.now);
  limits.start((key) => admitted.push(key));
  const queue = (key: string, isResumed = false) => ({ key, source: "p_a", isResumed });
  const ask = (key: string, isResumed = false): boolean => {
    limits.arrive(queue(key, isResumed));
    return limits.admits(queue(key, isResumed));
  };
  return { limits, state, admitted, queue, ask };
}

it("admits every run of a workflow without limits", () => {
  const { ask } = limited({});
  expect(["a", "b", "c"].map((key) => ask(key))).toEqual([true, true, true]);
});

it("admits as many runs at once as the concurrency, and the next one when a run leaves", () => {
  const { ask, limits, queue, admitted } = limited({ concurrency: 2 });
  expect(["a", "b", "c", "d"].map((key) => ask(key))).toEqual([true, true, false, false]);
  limits.leave(queue("a"));
  expect(admitted).toEqual(["c"]);
  expect(limits.admits(queue("c"))).toBe(true);
});

it("keeps the order of arrival in an ordered workflow, even if a later run is ready first", () => {
  const { limits, queue, admitted } = limited({ ordered: true });
  for (const key of ["a", "b"]) limits.arrive(queue(key));
  expect(limits.admits(queue("b"))).toBe(false);
  expect(limits.admits(queue("a"))).toBe(true);
  limits.leave(queue("a"));
  expect(admitted).toEqual(["b"]);
});

it("starts at most as many runs within the interval as the throttle allows, and does not count resumed ones", () => {
  vi.useFakeTimers();
  try {
    const { ask, state, admitted } = limited({ throttle: { runs: 2, intervalSeconds: 10 } });
    expect(["a", "b", "c"].map((key) => ask(key))).toEqual([true, true, false]);
    state.now = 9_999;
    vi.advanceTimersByTime(9_999);
    expect(admitted).toEqual([]);
    state.now = 10_000;
    vi.advanceTimersByTime(1);
    expect(admitted).toEqual(["c"]);
  } finally {
    vi.useRealTimers();
  }
  expect(limited({ throttle: { runs: 1, intervalSeconds: 10 } }).ask("a", true)).toBe(true);
});

it("uses the last known settings while those of the workflow are not cached", () => {
  const { ask, state } = limited({ concurrency: 1 });
  expect(ask("a")).toBe(true);
  state.known = undefined;
  expect(ask("b")).toBe(false);
});

it("keeps what an inactive workflow has accepted until it is active again, but lets suspended runs go on", async () => {
  vi.useFakeTimers();
  try {
    const { ask, state, admitted } = limited({});
    state.known = { settings: defaultWorkflowSettings, active: false };
    expect([ask("a"), ask("b", true)]).toEqual([false, true]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(admitted).toEqual([]);
    state.known = { settings: defaultWorkflowSettings, active: true };
    await vi.advanceTimersByTimeAsync(5_000);
    expect(admitted).toEqual(["a"]);
  } finally {
    vi.useRealTimers();
  }
});

it("leaves out a run that is released before it was admitted", () => {
  const { ask, limits, queue, admitted } = limited({ concurrency: 1 });
  ask("a");
  ask("b");
  ask("c");
  limits.leave(queue("b"));
  limits.leave(queue("a"));
  expect(admitted).toEqual(["c"]);
});
