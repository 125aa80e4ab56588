import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { committedStep } from "./workflow-commits.ts";
import { errorEvent, logEvent, logPlace } from "../../../domain/run/derived-events.ts";
import { platformVersion } from "../../../domain/version.ts";

const run = { id: "r_1", trigger: "http", startedAt: 1_700_000_000_000, durationMs: 5.4 } as const;
const failed = { source: "dc_abc", owner: "u_1", deployment: "d_1", run };
const dataOf = (...given: Parameters<typeof errorEvent>): unknown => JSON.parse(errorEvent(...given).payload);

it("an error event has every field that clients read", () => {
  const error = { name: "TypeError", message: "no such thing", stack: "TypeError: no such thing\n    at run" };
  expect(dataOf({ ...failed, run: { ...run, received: '{"method":"GET"}' } }, error)).toEqual({
    original_event: { method: "GET" },
    original_context: {
      id: "r_1",
      ts: "2023-11-14T22:13:20.005Z",
      workflow_id: "dc_abc",
      source_id: "dc_abc",
      deployment_id: "d_1",
      source_type: "HTTP",
      verified: false,
      owner_id: "u_1",
      platform_version: platformVersion,
      trigger: "http",
    },
    error: {
      code: "TypeError",
      name: "TypeError",
      msg: "no such thing",
      message: "no such thing",
      cellId: "c_abc",
      stack: error.stack,
      ts: "2023-11-14T22:13:20.005Z",
    },
  });
});

it("the error event of a workflow names the step that failed as cellId", () => {
  const workflow = { step: { id: "c_second", startedAt: run.startedAt + 60_000, durationMs: 5 } };
  expect(dataOf({ ...failed, source: "p_abc", workflow }, { name: "Error", message: "no" })).toMatchObject({
    original_context: { id: "r_1", workflow_id: "p_abc" },
    error: { cellId: "c_second", ts: "2023-11-14T22:14:20.005Z" },
  });
  expect(dataOf({ ...failed, source: "p_abc", workflow: {} }, { name: "Error", message: "no" })).toMatchObject({
    error: { cellId: "c_abc" },
  });
});

it("log lines of a run have different ids, whichever commit of the run has them", () => {
  const places = [1, 2, 3, 100_000].flatMap((number) => [0, 1, 9_999].map((index) => logPlace({ workflow: { number } }, index)));
  expect(new Set(places).size).toBe(12);
  expect(Math.max(...places)).toBeLessThan(2 ** 31);
  expect(logPlace({}, 3)).toBe(3);
  // The second of three steps that one commit has ended, and the step of the next commit.
  const before = [1, 2].map(() => ({ step: committedStep(), logs: 20_000 }));
  expect([logPlace({ workflow: { number: 6, before } }, 30_000), logPlace({ workflow: { number: 7 } }, 0)]).toEqual([90_000, 120_000]);
  expect(logEvent({ run }, { k: "console.log", ts: 1 }, 20_001).emitId).toBe("r_1l20001");
});

it("an error event of an error without a stack has its name and message as stack", () => {
  expect(dataOf(failed, { name: "LimitError", code: "run_timeout", message: "too long" })).toMatchObject({
    original_event: null,
    error: { code: "run_timeout", stack: "LimitError: too long" },
  });
});

it("the original event of an HTTP request has the body that the run received", () => {
  const event = { method: "POST", path: "/", headers: { "content-type": "application/json" }, bodyRaw: '{"name":"Ada"}' };
  expect(dataOf({ ...failed, run: { ...run, received: JSON.stringify(event) } }, { name: "Error", message: "" })).toMatchObject({
    original_event: { ...event, body: { name: "Ada" } },
  });
});

it("an original event that is not JSON is null", () => {
  expect(dataOf({ ...failed, run: { ...run, received: "{" } }, { name: "Error", message: "" })).toMatchObject({ original_event: null });
});

it("the platform version is that of package.json", () => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "../../../package.json"), "utf8")) as { version: string };
  expect(platformVersion).toBe(manifest.version);
});
