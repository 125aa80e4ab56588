import { beforeAll, describe, expect, test } from "vitest";
import type { CommittedEvent } from "../../../domain/event/committed-event.ts";
import { emptyState } from "../../../domain/run/commit.ts";
import type { RunSummary } from "../../../domain/invocation/invocation.ts";
import { ada, keys, withApi } from "./support.ts";
import { committedEvent as event } from "../committed-event.ts";

const api = withApi({ runTimeoutMs: 300 });
let [source, seq] = ["", 0];

beforeAll(async () => {
  source = (await api.ask("POST", "/v1/sources", { body: { component_code: "name: Emitter" } })).body.data.id;
});

async function record(of: string, events: readonly CommittedEvent[], error: RunSummary["error"] = null): Promise<string> {
  const id = `r_run${++seq}`;
  const run = {
    id,
    trigger: "manual",
    generation: 1,
    startedAt: 1_700_000_000_123,
    durationMs: 5,
    cpuMs: 2,
    result: '{"a":1}',
  } as const;
  await api.history.recordCommits("TEST", [
    {
      seq,
      commit: {
        source: of,
        owner: ada.id,
        deployment: "d_1",
        run,
        events,
        logs: [{ k: "console.log", ts: seq, msg: `line ${seq}` }],
        error,
        state: emptyState,
      },
    },
  ]);
  return id;
}

describe("event summaries", () => {
  test("are listed newest first, in pages, and whole if expanded", async () => {
    const long = { text: "x".repeat(2_000), short: 1 };
    await record(source, [
      event("1-0", { dedupeId: "d", summary: "s" }),
      event("2-0", { channel: "c" }),
      event("10-0", { payload: JSON.stringify(long) }),
    ]);
    const page = async (query: string) => (await api.ask("GET", `/v1/sources/${source}/event_summaries?${query}`)).body;
    const ids = async (query: string) => (await page(query)).data.map(({ id }: { id: string }) => id);
    const all = await page("");
    expect(all.page_info).toEqual({
      total_count: 3,
      count: 3,
      start_cursor: "10-0",
      end_cursor: "1-0",
      excluded_count: 0,
    });
    expect(all.data[2]).toEqual({
      id: "1-0",
      indexed_at_ms: 1,
      event: { id: "1-0" },
      metadata: { emit_id: "em_1-0", name: "", emitter_id: source, id: "d", summary: "s", ts: 1 },
    });
    expect(all.data[0].event).toEqual({ short: 1, $truncated: { bytes: expect.any(Number), omitted_fields: 1 } });
    expect((await page("expand=event")).data[0].event).toEqual(long);
    expect(await ids("limit=2")).toEqual(["10-0", "2-0"]);
    expect(await ids("limit=1&after=10-0")).toEqual(["2-0"]);
    expect(await ids("limit=1&before=1-0")).toEqual(["2-0"]);
    expect(await ids("event_name=c")).toEqual(["2-0"]);
    expect(await ids("event_name=")).toEqual(["10-0", "2-0", "1-0"]);
    expect(Object.keys((await page("include=id&limit=1")).data[0])).toEqual(["id"]);
    const legacy = (await api.ask("GET", `/v1/sources/${source}/events?n=1`)).body;
    expect(legacy).toEqual({ data: [{ id: "10-0", e: long, k: "emit", ts: 1, metadata: all.data[0].metadata }] });
  });

  test.each([
    "limit=0",
    "limit=a",
    "expand=all",
    "after=1",
    "before=x-y",
    "event_name=%00",
    "expand=event&expand=event",
    "after=99999999999999999999-1",
  ])("with %s are refused", async (query) => {
    expect((await api.ask("GET", `/v1/sources/${source}/event_summaries?${query}`)).status).toBe(422);
  });

  test.each([
    ["", []],
    ["start_id=3-0", ["1-0", "2-0"]],
    ["end_id=2-0", ["3-0", "4-0"]],
    ["start_id=2-0&end_id=3-0", ["1-0", "4-0"]],
    ["start_id=2-0&end_id=2-0", ["1-0", "3-0", "4-0"]],
    ["event_name=c", ["1-0", "2-0", "4-0"]],
  ])("are deleted by '%s'", async (query, left) => {
    const { id } = (await api.ask("POST", "/v1/sources", { body: { component_code: "name: D" } })).body.data;
    await record(id, [event("1-0"), event("2-0"), event("3-0", { channel: "c" }), event("4-0")]);
    const { status, text } = await api.ask("DELETE", `/v1/sources/${id}/events?${query}`);
    expect([status, text]).toEqual([202, " "]);
    const { data } = (await api.ask("GET", `/v1/sources/${id}/event_summaries`)).body;
    expect(data.map((each: { id: string }) => each.id).toReversed()).toEqual(left);
  });

  test.each(["start_id=1", "end_id=x", "start_id=1-0&start_id=2-0"])("are refused for %s", async (query) => {
    expect((await api.ask("DELETE", `/v1/sources/${source}/events?${query}`)).status).toBe(422);
  });
});

describe("runs", () => {
  const summary = (id: string, given: Partial<RunSummary> = {}): RunSummary => ({
    id,
    source,
    trigger: "manual",
    generation: 1,
    startedAt: 1_700_000_000_123,
    durationMs: 5,
    cpuMs: 2,
    eventIds: ["5-0"],
    logs: [{ k: "console.log", ts: 1, msg: "hello" }],
    error: null,
    result: '{"a":[1]}',
    ...given,
  });

  test("are started by a request, which waits for the end", async () => {
    api.onRun = async ({ run }) => summary(run);
    const { status, body } = await api.ask("POST", `/v1/sources/${source}/runs`, { body: { event: { a: null } } });
    expect(status).toBe(200);
    expect(api.ran.at(-1)).toEqual({
      run: body.data.id,
      owner: "u_ada",
      pool: "default",
      source,
      generation: expect.any(Number),
      event: { a: null },
    });
    expect(body.data).toEqual({
      id: expect.stringMatching(/^r_/),
      source_id: source,
      status: "succeeded",
      trigger: "manual",
      started_at: 1_700_000_000,
      started_at_ms: 1_700_000_000_123,
      duration_ms: 5,
      cpu_ms: 2,
      event_ids: ["5-0"],
      logs: [{ k: "console.log", ts: 1, msg: "hello" }],
      error: null,
      result: { a: [1] },
    });
    await api.ask("POST", `/v1/sources/${source}/runs`);
    expect(api.ran.at(-1)).not.toHaveProperty("event");
  });

  test("return 200 even if the code throws", async () => {
    const error = { name: "Error", message: "no", stack: "Error: no" };
    api.onRun = async ({ run }) => summary(run, { error, result: null });
    const { status, body } = await api.ask("POST", `/v1/sources/${source}/runs`, { body: {} });
    expect([status, body.data.status, body.data.error, body.data.result]).toEqual([200, "failed", error, null]);
  });

  test("that take too long return their id", async () => {
    api.onRun = (_, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
    const { status, body } = await api.ask("POST", `/v1/sources/${source}/runs`, { body: {} });
    expect([status, body.data]).toEqual([202, { id: api.ran.at(-1)?.run, source_id: source, status: "running", trigger: "manual" }]);
  });

  test("of an inactive source are refused with instructions", async () => {
    const { id } = (await api.ask("POST", "/v1/sources", { body: { component_code: "name: Off", active: false } })).body.data;
    const { status, body } = await api.ask("POST", `/v1/sources/${id}/runs`, { body: {} });
    expect([status, body.code]).toEqual([409, "source_inactive"]);
    expect(body.error).toContain(`PUT /v1/sources/${id}`);
  });

  test("of a source whose hook failed are refused with the reason", async () => {
    const { id } = (await api.ask("POST", "/v1/sources", { body: { component_code: "name: Was fine" } })).body.data;
    await api.ask("PUT", `/v1/sources/${id}`, { body: { component_code: "name: Bad; fail: activate" } });
    const { status, body } = await api.ask("POST", `/v1/sources/${id}/runs`, { body: {} });
    expect([status, body.code]).toEqual([409, "source_not_ready"]);
  });

  test("are listed newest first, filtered by outcome, and read one by one with their log", async () => {
    const { id } = (await api.ask("POST", "/v1/sources", { body: { component_code: "name: R" } })).body.data;
    const made = [await record(id, []), await record(id, [], { name: "Error", message: "no" }), await record(id, [])];
    const list = async (query: string) => (await api.ask("GET", `/v1/sources/${id}/runs?${query}`)).body;
    const ids = async (query: string) => (await list(query)).data.map((run: { id: string }) => run.id);
    expect(await ids("")).toEqual(made.toReversed());
    expect(await ids("failed=true")).toEqual([made[1]]);
    const first = await list("limit=1");
    expect(first.data[0]).toMatchObject({ id: made[2], source_id: id, result: { a: 1 }, status: "succeeded" });
    expect(first.data[0]).not.toHaveProperty("logs");
    expect(await ids(`limit=1&after=${first.page_info.end_cursor}`)).toEqual([made[1]]);
    expect((await api.ask("GET", `/v1/sources/${id}/runs/${made[1]}`)).body.data).toMatchObject({
      id: made[1],
      status: "failed",
      logs: [{ k: "console.log" }],
    });
    for (const none of ["r_none", "%00", "x".repeat(500)])
      expect((await api.ask("GET", `/v1/sources/${id}/runs/${none}`)).status).toBe(404);
    expect((await api.ask("GET", `/v1/sources/${id}/runs?failed=x`)).status).toBe(422);
    const logs = (await api.ask("GET", `/v1/sources/${id}/logs?limit=2`)).body.data;
    expect(logs.map((line: { run_id: string }) => line.run_id)).toEqual([made[2], made[1]]);
    expect((await api.ask("GET", `/v1/sources/${id}/logs`, { key: keys.bob })).status).toBe(404);
  });

  test("are counted in /users/me", async () => {
    api.onRun = async () => undefined;
    const { id } = (await api.ask("POST", "/v1/sources", { body: { component_code: "name: Used" } })).body.data;
    const now = Date.now();
    await api.history.recordCommits("TEST", [
      {
        seq: ++seq,
        commit: {
          source: id,
          owner: ada.id,
          deployment: "d_1",
          run: {
            id: `r_used${seq}`,
            trigger: "timer",
            generation: 1,
            startedAt: now,
            durationMs: 7,
            cpuMs: 2,
            result: null,
          },
          events: [],
          logs: [],
          error: null,
          state: emptyState,
        },
      },
    ]);
    expect((await api.ask("GET", "/v1/users/me")).body.data).toMatchObject({
      daily_compute_time_used: 7,
      daily_invocations_used: 1,
    });
  });
});
