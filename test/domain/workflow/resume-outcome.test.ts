import { expect, it } from "vitest";
import { endMarker, endMarkerOf, isEndMarker, parseEndMarker } from "../../../domain/workflow/run-commit.ts";
import { whyGone } from "../../../domain/workflow/resume-outcome.ts";
import type { SuspensionEnd } from "../../../domain/workflow/run-state.ts";

const at = Date.parse("2026-11-28T10:00:00Z");
const ended = (how: SuspensionEnd["how"]) => ({ status: "succeeded", suspensions: 2, suspensionEnd: { number: 2, how, at } }) as const;

it.each([
  [2, ended("resumed"), "resume_url_used", "was resumed at 2026-11-28T10:00:00.000Z by a request to its resume URL: it has succeeded"],
  [
    2,
    { ...ended("canceled"), status: "canceled" },
    "resume_url_used",
    "was canceled at 2026-11-28T10:00:00.000Z by a request to its cancel URL",
  ],
  [2, ended("timed_out"), "resume_url_expired", "was canceled at 2026-11-28T10:00:00.000Z, because nothing had resumed it in time"],
  [1, ended("resumed"), "resume_url_replaced", "no longer waits for this URL, because a later wait has replaced it: it has succeeded"],
  [3, { ...ended("resumed"), status: "failed" }, "run_ended", "did not wait for this URL: it has ended as failed"],
  [1, undefined, "run_ended", "has ended, so this URL has no effect"],
] as const)("says why the URL of suspension %i has no effect: %o", (suspension, run, code, message) => {
  expect(whyGone({ run: "r_1", suspension }, run)).toEqual({ outcome: "gone", code, message: `run r_1 ${message}` });
});

it("keeps how the last suspension ended in the end marker, for an hour; other runs have a short marker for ten minutes", () => {
  const { text, ttlSeconds } = endMarkerOf(ended("resumed"));
  expect([isEndMarker(text), parseEndMarker(text), ttlSeconds]).toEqual([true, ended("resumed"), 3_600]);
  expect(endMarkerOf({ status: "succeeded", suspensions: 0 })).toEqual({ text: endMarker, ttlSeconds: 600 });
  expect([isEndMarker(endMarker), parseEndMarker(endMarker)]).toEqual([true, undefined]);
  expect(isEndMarker('{"source":"p_1"}')).toBe(false);
});
