import { expect, test } from "vitest";
import { parseCommit } from "../../../delivery/routing/router.ts";
import type { Commit } from "../../../domain/run/commit.ts";
import { emptyState } from "../../../domain/run/commit.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { runSubject, workflowRunSubject } from "../../../domain/subjects.ts";
import { endMarker } from "../../../domain/workflow/run-commit.ts";

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const event = { id: "1-0", emitId: "e1", channel: "", dedupeId: null, summary: null, ts: 1, payload: "{}" };
const run = { id: "r_1", trigger: "http", generation: 1, startedAt: 1, durationMs: 2, cpuMs: 1, result: null } as const;
const commit: Commit = {
  source: "dc_1",
  owner: "u_1",
  deployment: "d_1",
  run,
  events: [event],
  logs: [{ k: "console.log", ts: 1, msg: "x" }],
  error: { name: "Error", message: "no" },
  hops: 1,
  state: emptyState,
};
const subject = runSubject(partitionOf("dc_1"), "u_1", "dc_1");
const read = (fields: object): Commit | undefined => parseCommit(JSON.stringify({ ...commit, ...fields }), subject, log);

test("returns a commit whose owner and source match its subject", () => {
  expect(read({})).toEqual(commit);
  expect(read({ events: [], logs: [], error: null, hops: undefined })).toMatchObject({ error: null });
});

test.each([
  ["the commit of another owner", JSON.stringify({ ...commit, owner: "u_2" })],
  ["the commit of another source", JSON.stringify({ ...commit, source: "dc_2" })],
  ["an object that is not a commit", "{}"],
  ["text that is not JSON", "x"],
  ["null", "null"],
])("leaves out a message with %s", (_, text) => {
  expect(parseCommit(text, subject, log)).toBeUndefined();
});

test("skips the end marker of a workflow run without a warning", () => {
  const warnings: unknown[] = [];
  const warning = { ...log, warn: (fields: object) => void warnings.push(fields) };
  expect(parseCommit(endMarker, workflowRunSubject(partitionOf("p_1"), "u_1", "p_1", "r_1"), warning)).toBeUndefined();
  expect(warnings).toEqual([]);
  expect(parseCommit("{ }", subject, warning)).toBeUndefined();
  expect(warnings).toMatchObject([{ op: "commit.read", subject }]);
});

/** Each could be neither routed nor recorded, and would hold up every commit behind it. */
test.each([
  ["no run", { run: undefined }],
  ["no logs", { logs: null }],
  ["an event that is null", { events: [null] }],
  ["an id with a space, which a subject cannot contain", { events: [{ ...event, emitId: "a b" }] }],
  ["an id with dots, which are several tokens of a subject", { events: [{ ...event, emitId: "a..>" }] }],
  ["a time outside the calendar", { events: [{ ...event, deliverAt: 1e300 }] }],
  ["a payload that is not a string", { events: [{ ...event, payload: {} }] }],
  ["a run with an invalid start time", { run: { ...run, startedAt: "now" } }],
  ["negative hops", { hops: -1 }],
  ["an error that is a string", { error: "no" }],
])("leaves out a commit with %s", (_, fields) => {
  expect(read(fields)).toBeUndefined();
});
