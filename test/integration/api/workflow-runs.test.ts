import { beforeAll, describe, expect, test } from "vitest";
import { labels } from "../../../crds/resource.ts";
import { emptyWorkflow, workflowKind } from "../../../crds/workflow.ts";
import { emptyState } from "../../../domain/run/commit.ts";
import { namespaceOfOwner, resourceNameOf } from "../../../domain/ids.ts";
import { createDeliveryRecords } from "../../../platform/postgres/history/deliveries.ts";
import { began, committedStep, recordable, workflowCommit, type Given } from "../../domain/run/workflow-commits.ts";
import { committedEvent as event } from "../committed-event.ts";
import { ada, bob, keys, withApi } from "./support.ts";

const api = withApi();
const [mine, bobs] = ["p_mine", "p_bobs"];
let [source, seq] = ["", 0];

beforeAll(async () => {
  source = (await api.ask("POST", "/v1/sources", { body: { component_code: "name: Emitter" } })).body.data.id;
  for (const [id, owner] of [
    [mine, ada.id],
    [bobs, bob.id],
  ] as const)
    await api.store.create(workflowKind, {
      namespace: namespaceOfOwner(owner),
      name: resourceNameOf(id),
      labels: { [labels.id]: id, [labels.owner]: owner },
      spec: { ...emptyWorkflow },
    });
});

const { run } = workflowCommit();
async function record(id: string, given: Given): Promise<void> {
  const commit = recordable({ source: mine, owner: ada.id, ...given, run: { ...run, id } });
  await api.history.recordCommits("TEST", [{ seq: ++seq, commit }]);
}
const get = async (path: string) => (await api.ask("GET", `/v1${path}`)).body;

describe("a run of a workflow", () => {
  test("has its steps with inputs, outputs, exports, logs, times and attempts", async () => {
    const error = { name: "Error", message: "busy", stack: "Error: busy" };
    const exports = '{"$return_value":{"ok":true},"$summary":"Sent","total":7}';
    const request = { method: "POST", path: "/", headers: { "content-type": "application/json" }, bodyRaw: '{"name":"Ada"}' };
    await record("r_whole", {
      workflow: {
        status: "suspended",
        resumeAt: began + 60_000,
        stepCount: 2,
        event: JSON.stringify(request),
        step: committedStep({ outcome: "retried", error }),
      },
      logs: [{ k: "console.log", ts: began, msg: "sending" }],
    });
    const suspended = (await get(`/workflows/${mine}/runs/r_whole`)).data;
    expect(suspended).toMatchObject({
      status: "suspended",
      resume_at_ms: began + 60_000,
      ended_at: null,
      duration_ms: null,
      steps_done: 0,
    });

    await record("r_whole", { workflow: { status: "running", number: 2, stepCount: 2, step: committedStep({ attempt: 2, exports }) } });
    await record("r_whole", {
      workflow: {
        status: "exited",
        number: 3,
        stepCount: 2,
        reason: "nothing to do",
        step: committedStep({ name: "second", index: 1, outcome: "exited" }),
      },
      events: [event(`${began}-1`)],
    });
    const send = {
      delivery: "r_whole.s0",
      webhook: mine,
      subscription: mine,
      owner: ada.id,
      source: mine,
      event: "r_whole",
      emitId: "r_whole.s0",
    };
    const sent = {
      channel: "$send.http",
      attempt: 1,
      at: began + 2_000,
      durationMs: 7,
      outcome: "delivered",
      status: 204,
      error: null,
    } as const;
    await createDeliveryRecords(api.database).recordAttempts([{ ...send, ...sent }]);
    expect((await get(`/workflows/${mine}/runs/r_whole`)).data).toEqual({
      id: "r_whole",
      workflow_id: mine,
      deployment_id: "d_1",
      status: "exited",
      trigger: "http",
      cause: null,
      started_at: began / 1_000,
      started_at_ms: began,
      ended_at: began / 1_000 + 1,
      ended_at_ms: began + 1_020,
      duration_ms: 1_020,
      compute_ms: 60,
      resume_at: null,
      resume_at_ms: null,
      step_count: 2,
      steps_done: 2,
      repeats: null,
      reason: "nothing to do",
      failed_step_id: null,
      error: null,
      event: { ...request, body: { name: "Ada" } },
      event_ids: [`${began}-1`],
      sends: [
        {
          delivery_id: "r_whole.s0",
          send: "http",
          attempt: 1,
          outcome: "delivered",
          at_ms: began + 2_000,
          duration_ms: 7,
          response_status: 204,
          cause: null,
        },
      ],
      steps: [
        expect.objectContaining({
          name: "first",
          attempt: 1,
          outcome: "retried",
          error,
          logs: [{ k: "console.log", ts: began, msg: "sending" }],
        }),
        {
          id: committedStep().id,
          name: "first",
          attempt: 2,
          outcome: "succeeded",
          started_at_ms: began,
          duration_ms: 20,
          cpu_ms: 2,
          inputs: { to: "Ada" },
          exports: { total: 7 },
          return_value: { ok: true },
          summary: "Sent",
          error: null,
          logs: [],
        },
        expect.objectContaining({ name: "second", outcome: "exited" }),
      ],
    });
  });

  test("is shown although its runner has forged texts that are not JSON", async () => {
    await record("r_forged", { workflow: { event: "{", step: committedStep({ inputs: "no", exports: "[" }) } });
    const { data } = await get(`/workflows/${mine}/runs/r_forged`);
    expect(data).toMatchObject({ event: null, steps: [{ inputs: null, exports: {}, return_value: null, summary: null }] });
  });

  test("is listed newest first, in pages, and by status", async () => {
    const error = { name: "Error", message: "no" };
    await record("r_failed", { error, workflow: { status: "failed", step: committedStep({ outcome: "failed", error }) } });
    const ids = async (query: string) => (await get(`/workflows/${mine}/runs?${query}`)).data.map(({ id }: { id: string }) => id);
    expect((await ids("")).slice(0, 1)).toEqual(["r_failed"]);
    expect(await ids("status=failed")).toEqual(["r_failed"]);
    expect(await ids("status=")).toHaveLength(3);
    const first = await get(`/workflows/${mine}/runs?limit=1`);
    expect(first.page_info).toMatchObject({ total_count: 3, count: 1 });
    expect(first.data[0]).toMatchObject({ status: "failed", failed_step_id: committedStep().id, error });
    expect(await ids(`limit=5&after=${first.page_info.end_cursor}`)).toEqual(["r_forged", "r_whole"]);
    expect(await api.ask("GET", `/v1/workflows/${mine}/runs?status=done`)).toMatchObject({ status: 422 });
    expect(await api.ask("GET", `/v1/workflows/${mine}/runs?after=cl9ub25l`)).toMatchObject({ status: 422 });
  });

  test("is not found for others, and under another id", async () => {
    for (const path of [
      `/workflows/${mine}/runs/r_none`,
      `/workflows/${mine}/runs/x%00`,
      `/workflows/${bobs}/runs`,
      "/workflows/p_none/logs",
    ])
      expect([path, (await api.ask("GET", `/v1${path}`)).status]).toEqual([path, 404]);
    expect((await api.ask("GET", `/v1/workflows/${mine}/runs/r_whole`, { key: keys.bob })).status).toBe(404);
  });

  test("has its log lines in the log of the workflow", async () => {
    const { data } = await get(`/workflows/${mine}/logs`);
    expect(data).toEqual([{ k: "console.log", ts: began, msg: "sending", run_id: "r_whole" }]);
  });
});

describe("lineage", () => {
  test("leads from an event to the workflow runs that it started, and back", async () => {
    const commit = { ...workflowCommit({ source, owner: ada.id, events: [event("7-0"), event("8-0")] }), state: emptyState };
    const { workflow: _, ...emitted } = commit;
    await api.history.recordCommits("TEST", [{ seq: ++seq, commit: { ...emitted, run: { ...run, id: "r_source" } } }]);
    const cause = { emitter: source, emitId: "em_7-0" };
    await record("r_started", { workflow: { cause }, events: [event("9-0")] });
    await record("r_foreign", { source: bobs, owner: bob.id, workflow: { cause } });

    const { data } = await get(`/sources/${source}/events/7-0/runs`);
    expect(data).toMatchObject([{ id: "r_started", workflow_id: mine, cause: { emitter_id: source, emit_id: "em_7-0" } }]);
    expect((await get(`/workflows/${mine}/runs/r_started`)).data.cause).toEqual({ emitter_id: source, emit_id: "em_7-0", event_id: "7-0" });
    expect((await get(`/sources/${source}/events/8-0/runs`)).data).toEqual([]);

    await record("r_second", { workflow: { cause: { emitter: mine, emitId: "em_9-0" } } });
    expect((await get(`/workflows/${mine}/events/9-0/runs`)).data).toMatchObject([{ id: "r_second" }]);
  });

  test("is not found for unknown events, and events of others", async () => {
    for (const id of ["1-0", "x", "deletions"]) expect((await api.ask("GET", `/v1/sources/${source}/events/${id}/runs`)).status).toBe(404);
    expect((await api.ask("GET", `/v1/sources/${source}/events/7-0/runs`, { key: keys.bob })).status).toBe(404);
  });
});
