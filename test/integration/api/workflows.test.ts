import { beforeAll, describe, expect, test } from "vitest";
import { labels } from "../../../crds/resource.ts";
import { emptyWorkflow, workflowKind } from "../../../crds/workflow.ts";
import type { CommittedEvent } from "../../../domain/event/committed-event.ts";
import { namespaceOfOwner, resourceNameOf } from "../../../domain/ids.ts";
import type { RunError } from "../../../domain/run-products.ts";
import { platformVersion } from "../../../domain/version.ts";
import { committedStep, recordable } from "../../domain/run/workflow-commits.ts";
import { acme, ada, bob, keys, withApi } from "./support.ts";
import { committedEvent as event } from "../committed-event.ts";

const api = withApi();
const [mine, ours, bobs] = ["p_mine", "p_ours", "p_bobs"];
const emptyPage = {
  page_info: { total_count: 0, count: 0, start_cursor: null, end_cursor: null, excluded_count: 0 },
  data: [],
};

beforeAll(async () => {
  for (const [id, owner] of [
    [mine, ada.id],
    [ours, acme.id],
    [bobs, bob.id],
  ] as const)
    await api.store.create(workflowKind, {
      namespace: namespaceOfOwner(owner),
      name: resourceNameOf(id),
      labels: { [labels.id]: id, [labels.owner]: owner },
      spec: { ...emptyWorkflow },
    });
});

async function record(source: string, seq: number, events: readonly CommittedEvent[], error: RunError | null = null): Promise<void> {
  const run = { id: `r_${seq}`, trigger: "event", generation: 1, startedAt: 1, durationMs: 1, cpuMs: 1, result: null } as const;
  const step = committedStep({ id: "c_second", name: "second", index: 1, startedAt: 1, durationMs: 1, error });
  const workflow = { status: error === null ? "succeeded" : "failed", step, event: '{"n":1}' } as const;
  await api.history.recordCommits("TEST", [{ seq, commit: recordable({ source, owner: ada.id, run, events, error, workflow }) }]);
}

const paths = (workflow: string): readonly string[] => [
  `/v1/workflows/${workflow}/event_summaries`,
  `/v1/workflows/${workflow}/$errors/event_summaries`,
  `/v1/workflows/${workflow}/%24errors/event_summaries/`,
];

describe("the events of a workflow", () => {
  test("without emits are an empty page", async () => {
    for (const path of [...paths(mine), ...paths(ours)]) {
      const { status, body } = await api.ask("GET", `${path}?limit=500&expand=event`);
      expect([path, status, body]).toEqual([path, 200, emptyPage]);
    }
  });

  test("of others, or of unknown workflows, return 404", async () => {
    for (const path of [...paths(bobs), ...paths("p_none"), ...paths("none"), ...paths("dc_none"), ...paths("p_%00")]) {
      const { status, body } = await api.ask("GET", path);
      expect([path, status, body]).toEqual([path, 404, { error: expect.stringMatching(/^record not found: /), code: "not_found" }]);
    }
    expect((await api.ask("GET", paths(ours)[0] ?? "", { key: keys.bob })).status).toBe(404);
  });

  test("are read from the history, errors included", async () => {
    const long = { text: "x".repeat(2_000), short: 1 };
    const [emitted = "", errors = ""] = paths(mine);
    await record(mine, 1, [event("1-0"), event("2-0", { payload: JSON.stringify(long) })]);
    const all = (await api.ask("GET", `${emitted}?expand=event`)).body;
    expect(all.page_info).toMatchObject({ total_count: 2, count: 2, start_cursor: "2-0", end_cursor: "1-0" });
    expect(all.data).toEqual([
      { id: "2-0", indexed_at_ms: 2, event: { raw_event: long }, metadata: expect.objectContaining({ name: "", emitter_id: mine }) },
      { id: "1-0", indexed_at_ms: 1, event: { raw_event: { id: "1-0" } }, metadata: expect.objectContaining({ emit_id: "em_1-0" }) },
    ]);
    const shortened = (await api.ask("GET", `${emitted}?limit=1`)).body.data[0];
    expect(shortened.event.raw_event).toMatchObject({ short: 1, $truncated: { omitted_fields: 1 } });
    expect((await api.ask("GET", `${emitted}?include=id&after=2-0`)).body.data).toEqual([{ id: "1-0" }]);
    expect((await api.ask("GET", errors)).body).toEqual(emptyPage);

    await record(mine, 2, [], { name: "TypeError", code: "Boom", message: "no", stack: "TypeError: no" });
    const failed = (await api.ask("GET", errors)).body;
    expect(failed.page_info).toMatchObject({ total_count: 1, count: 1, start_cursor: failed.data[0].id, excluded_count: 0 });
    expect(failed.data).toEqual([
      {
        id: expect.stringMatching(/^2-\d+$/),
        indexed_at_ms: 2,
        event: {
          original_event: { n: 1 },
          original_context: {
            id: "r_2",
            ts: "1970-01-01T00:00:00.002Z",
            workflow_id: mine,
            source_id: mine,
            deployment_id: "d_1",
            source_type: "EVENT",
            verified: false,
            owner_id: ada.id,
            platform_version: platformVersion,
            trigger: "event",
          },
          error: {
            code: "Boom",
            name: "TypeError",
            msg: "no",
            message: "no",
            cellId: "c_second",
            stack: "TypeError: no",
            ts: "1970-01-01T00:00:00.002Z",
          },
        },
        metadata: expect.objectContaining({ name: "$errors", emitter_id: mine }),
      },
    ]);
    expect((await api.ask("GET", emitted)).body.page_info.total_count).toBe(2);
  });

  test("are those of a channel, in a time range, and can be deleted", async () => {
    const [emitted = ""] = paths(ours);
    await record(ours, 3, [event("1-0"), event("2-0", { channel: "c" }), event("3-0", { payload: "no JSON" })]);
    const ids = async (query: string) => (await api.ask("GET", `${emitted}?${query}`)).body.data.map(({ id }: { id: string }) => id);
    expect(await ids("")).toEqual(["3-0", "2-0", "1-0"]);
    expect(await ids("event_name=c")).toEqual(["2-0"]);
    expect(await ids("since=2&until=2")).toEqual(["2-0"]);
    expect((await api.ask("GET", `${emitted}?limit=1`)).body.data[0].event).toEqual({ raw_event: null });
    const { status, text } = await api.ask("DELETE", `/v1/workflows/${ours}/events?start_id=2-0`);
    expect([status, text]).toEqual([202, " "]);
    expect(await ids("")).toEqual(["1-0"]);
    expect((await api.ask("GET", `/v1/workflows/${ours}/events/deletions`)).body.data).toMatchObject([
      { workflow_id: ours, status: "finished", deleted: 2 },
    ]);
    expect((await api.ask("DELETE", `/v1/workflows/${bobs}/events`)).status).toBe(404);
    expect((await api.ask("DELETE", `/v1/workflows/${ours}/events?event_name=$errors`)).status).toBe(422);
  });

  test.each(["limit=0", "limit=x", "expand=all", "after=***", "after=1-0&before=1-0"])("with %s are refused", async (query) => {
    for (const path of paths(mine)) expect((await api.ask("GET", `${path}?${query}`)).status).toBe(422);
  });
});

describe("subscriptions with workflows", () => {
  const subscribe = (emitter: string, listener: string, rest = "") =>
    api.ask("POST", `/v1/subscriptions?emitter_id=${emitter}&listener_id=${listener}${rest}`);

  test("accept visible workflows as emitters and listeners", async () => {
    const source = (await api.ask("POST", "/v1/sources", { body: { component_code: "name: Emitter" } })).body.data.id;
    for (const [emitter, listener] of [
      [mine, source],
      [source, mine],
      [mine, ours],
      [ours, mine],
    ] as const) {
      const { status, body } = await subscribe(emitter, listener, "&event_name=$errors");
      expect([status, body.data]).toEqual([
        200,
        { id: expect.stringMatching(/^sub_/), emitter_id: emitter, listener_id: listener, event_name: "$errors" },
      ]);
    }
    const ended = await api.ask("DELETE", `/v1/subscriptions?emitter_id=${mine}&listener_id=${ours}&event_name=$errors`);
    expect(ended.status).toBe(200);
  });

  test("refuse foreign and unknown workflows, and the workflow itself", async () => {
    const cases: readonly [string, string, string, number][] = [
      [bobs, mine, "", 404],
      [mine, bobs, "", 404],
      ["p_none", mine, "", 404],
      [mine, "p_none", "", 404],
      [mine, mine, "", 422],
      [mine, mine, "&event_name=$errors", 422],
      [mine, ours, `&org_id=${acme.id}`, 403],
      [ours, mine, `&org_id=${acme.id}`, 403],
    ];
    for (const [emitter, listener, rest, status] of cases) {
      const answer = await subscribe(emitter, listener, rest);
      expect([emitter, listener, answer.status]).toEqual([emitter, listener, status]);
    }
    expect((await subscribe(mine, mine, "&event_name=tasks")).status).toBe(200);
    expect((await subscribe("p_none", mine)).body.error).toBe("emitter p_none is not found");
    expect((await subscribe(mine, bobs)).body.error).toBe(`listener ${bobs} is not found`);
  });
});
