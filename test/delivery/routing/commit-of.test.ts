import { expect, test } from "vitest";
import { commitOf } from "../../../delivery/routing/commit-of.ts";
import type { Commit } from "../../../domain/run/commit.ts";
import { emptyState } from "../../../domain/run/commit.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { runSubject } from "../../../domain/subjects.ts";

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
const read = (fields: object): Commit | undefined => commitOf(JSON.stringify({ ...commit, ...fields }), subject, log);

test("a commit counts where it has to lie", () => {
  expect(read({})).toEqual(commit);
  expect(read({ events: [], logs: [], error: null, hops: undefined })).toMatchObject({ error: null });
});

test.each([
  ["another owner's", JSON.stringify({ ...commit, owner: "u_2" })],
  ["another source's", JSON.stringify({ ...commit, source: "dc_2" })],
  ["no commit", "{}"],
  ["no JSON", "x"],
  ["nothing", "null"],
])("a message that holds %s is left out", (_, text) => {
  expect(commitOf(text, subject, log)).toBeUndefined();
});

/** Each would hold up every commit behind it, since it could be neither routed nor recorded. */
test.each([
  ["no run", { run: undefined }],
  ["no logs", { logs: null }],
  ["an event that is none", { events: [null] }],
  ["an id that is no part of a subject", { events: [{ ...event, emitId: "a b" }] }],
  ["an id that is several parts of one", { events: [{ ...event, emitId: "a..>" }] }],
  ["a time that no calendar knows", { events: [{ ...event, deliverAt: 1e300 }] }],
  ["a payload that is no text", { events: [{ ...event, payload: {} }] }],
  ["a run without a time", { run: { ...run, startedAt: "now" } }],
  ["hops that are none", { hops: -1 }],
  ["an error that is none", { error: "no" }],
])("a commit with %s is left out", (_, fields) => {
  expect(read(fields)).toBeUndefined();
});
