import { describe, expect, test } from "vitest";
import type { EmittedEvent } from "../../../domain/event/emitted-event.ts";
import type { Commit } from "../../../domain/run/commit.ts";
import { emptyState } from "../../../domain/run/commit.ts";
import { isAskedFor, itemOfEmitted, itemsOfCommit } from "../../../domain/search/committed.ts";
import { maxSearchedText } from "../../../domain/search/item.ts";
import type { WorkflowProgress } from "../../../domain/workflow/run-commit.ts";
import { parseSearch } from "../../../domain/search/query.ts";
import { committedEvent } from "../../integration/committed-event.ts";
import { committedStep, recordable } from "../run/workflow-commits.ts";

const commit = (given: Partial<Commit> = {}): Commit => ({
  source: "dc_1",
  owner: "u_1",
  deployment: "d_1",
  run: { id: "r_1", trigger: "http", generation: 1, startedAt: 1_000, durationMs: 5, cpuMs: 1, result: null },
  events: [],
  logs: [],
  error: null,
  state: emptyState,
  ...given,
});
const shown = (of: Commit) => itemsOfCommit(of).map(({ table, at, number, status }) => `${table} ${at} ${number} ${status}`);

describe("the items of a commit", () => {
  test("are in the order of their positions: a run, then lines and events of its time", () => {
    const logs = [
      { k: "console.log", ts: 1_005.7, msg: "late" },
      { k: "console.log", ts: 1_002, msg: "early" },
    ];
    const events = [committedEvent("1005-1"), committedEvent("1005-0"), committedEvent("1001-0")];
    expect(shown(commit({ logs, events }))).toEqual([
      "runs 1000 0 succeeded",
      "events 1001 0 null",
      "logs 1002 1 null",
      "logs 1005 0 null",
      "events 1005 0 null",
      "events 1005 1 null",
    ]);
  });

  test("lack events that are not due, or have no id", () => {
    const events = [committedEvent("1001-0", { deliverAt: 9e12 }), committedEvent("forged"), committedEvent("1001-1")];
    expect(shown(commit({ events }))).toEqual(["runs 1000 0 succeeded", "events 1001 1 null"]);
  });

  test("have only the beginning of long texts", () => {
    const long = "x".repeat(100_000);
    const error = { name: "Error", message: long };
    const items = itemsOfCommit(
      commit({
        error,
        events: [committedEvent("1001-0", { payload: long, summary: long })],
        logs: [{ k: "console.log", ts: 1, msg: long }],
      }),
    );
    expect(items.map(({ body }) => body?.length)).toEqual([maxSearchedText, maxSearchedText, maxSearchedText]);
    expect(items.map(({ head }) => head?.length)).toEqual([undefined, undefined, 4_096]);
  });

  test("of a workflow have its run when it begins, waits and ends, but not when it goes on", () => {
    const of = (workflow: Partial<WorkflowProgress>) => shown(recordable({ source: "p_1", workflow })).map((text) => text.split(" ")[3]);
    expect(of({ number: 1, status: "running" })).toEqual(["running"]);
    expect(of({ number: 2, status: "running" })).toEqual([]);
    expect(of({ number: 2, status: "running", before: [{ step: committedStep(), logs: 0 }] })).toEqual(["running"]);
    expect(of({ number: 3, status: "suspended" })).toEqual(["suspended"]);
    expect(of({ number: 4, status: "failed" })).toEqual(["failed"]);
  });
});

describe("a query asks for", () => {
  const failed = itemsOfCommit(
    commit({
      error: { name: "Error", message: "no" },
      logs: [{ k: "console.log", ts: 1_002, msg: "x" }],
      events: [committedEvent("1003-0", { channel: "a" })],
    }),
  );
  test.each([
    ["", ["runs", "logs", "events"]],
    ["kind:log", ["logs"]],
    ["kind:error", ["runs"]],
    ["status:failed", ["runs", "logs", "events"]],
    ["status:succeeded", []],
    ["channel:a", ["events"]],
    ['channel:""', []],
    ["r_1 kind:run", ["runs"]],
    ["r_2", []],
    ["after:1970-01-01T00:00:01.002", ["logs", "events"]],
  ])("%s", (text, tables) => {
    const query = parseSearch(text, 0);
    expect(failed.filter((item) => isAskedFor(item, query)).map(({ table }) => table)).toEqual(tables);
  });
});

test("a scheduled event that is due is an item if its id and run are known, of a run in an unknown state", () => {
  const event: EmittedEvent = { source: "dc_1", owner: "u_1", emitId: "em_1", channel: "c", ts: 1, payload: '"x"' };
  expect(itemOfEmitted(event)).toBeUndefined();
  expect(itemOfEmitted({ ...event, eventId: "forged", run: "r_1" })).toBeUndefined();
  const item = itemOfEmitted({ ...event, eventId: "7-3", run: "r_1", summary: "s" });
  expect(item).toMatchObject({ table: "events", at: 7, number: 3, run: "r_1", channel: "c", head: "s", body: '"x"' });
  expect(item && isAskedFor(item, parseSearch("status:succeeded", 0))).toBe(false);
});
