import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { labels } from "../../../crds/resource.ts";
import { emptyWorkflow, workflowKind } from "../../../crds/workflow.ts";
import type { Attempt } from "../../../delivery/record/ports.ts";
import { namespaceOfOwner, resourceNameOf } from "../../../domain/ids.ts";
import type { EventCause } from "../../../domain/invocation/invocation.ts";
import { emptyState, type Commit } from "../../../domain/run/commit.ts";
import type { CommittedEvent } from "../../../domain/event/committed-event.ts";
import { createDeliveryRecords } from "../../../platform/postgres/history/deliveries.ts";
import { createTraceRecords } from "../../../platform/postgres/history/traces/traces.ts";
import { began, committedStep, recordable, type Given } from "../../domain/run/workflow-commits.ts";
import { committedEvent } from "../committed-event.ts";
import { acme, ada, bob, keys, withApi } from "./support.ts";

const api = withApi();
const [mine, called, bobs, nested] = ["p_mine", "p_called", "p_bobs", "p_nested"];
let [source, webhook, seq] = ["", "", 0];

interface Shown {
  readonly id: string;
  readonly parent_id: string | null;
  readonly depth: number;
  readonly kind: string;
  readonly name: string | null;
  readonly status?: string;
  readonly detail?: string;
  readonly has_more?: true;
  readonly hidden?: true;
  readonly gone?: true;
  readonly trace_id?: string;
  readonly started_at_ms: number | null;
}

beforeAll(async () => {
  source = (await api.ask("POST", "/v1/sources", { body: { component_code: "name: Orders", name: "Orders" } })).body.data.id;
  webhook = (await api.ask("POST", "/v1/webhooks", { body: { url: "https://shop.test/", name: "Shop" } })).body.data.id;
  for (const [id, owner, name] of [
    [mine, ada.id, "Billing"],
    [called, ada.id, "Receipts"],
    [bobs, bob.id, "Of Bob"],
    [nested, ada.id, "Nested"],
  ] as const)
    await api.store.create(workflowKind, {
      namespace: namespaceOfOwner(owner),
      name: resourceNameOf(id),
      labels: { [labels.id]: id, [labels.owner]: owner },
      spec: workflowKind.spec.parse({ ...emptyWorkflow, name, ...(id === nested ? { steps: nestedSteps } : {}) }),
    });
});

const inner = (name: string) => ({ name, componentKey: "a" });
const nestedSteps = [
  {
    name: "each",
    forEach: "{{ steps.trigger.event.items }}",
    steps: [{ name: "decide", if: "{{ true }}", then: [inner("deep")] }, inner("flat")],
  },
  inner("last"),
];

const record = (...commits: readonly Commit[]): Promise<unknown> =>
  api.history.recordCommits(
    "RUNS",
    commits.map((commit) => ({ seq: ++seq, commit })),
  );

interface OfSource {
  readonly of?: string;
  readonly trigger?: "http" | "event";
  readonly cause?: EventCause;
  readonly events?: readonly CommittedEvent[];
  readonly startedAt?: number;
}

function sourceRun(id: string, { of = source, trigger = "http", cause, events = [], startedAt = began }: OfSource = {}): Commit {
  const times = { startedAt, durationMs: 30, cpuMs: 3, queuedMs: 12, startMs: 4 };
  const run = { id, trigger, generation: 1, ...times, result: null, ...(cause === undefined ? {} : { cause }) };
  return { source: of, owner: ada.id, deployment: "d_orders", run, events, logs: [], error: null, state: emptyState };
}

function workflowRun(run: string, { source: of = mine, owner = ada.id, workflow = {}, ...given }: Given): Commit {
  const times = { trigger: "event", generation: 1, startedAt: began, durationMs: 20, cpuMs: 2, result: null } as const;
  return recordable({ source: of, owner, ...given, run: { id: run, ...times }, workflow });
}

const attempt = (event: string, emitId: string, of: Partial<Attempt> = {}): Attempt => ({
  delivery: `${emitId}.sub_shop`,
  webhook,
  subscription: "sub_shop",
  owner: ada.id,
  source,
  event,
  emitId,
  channel: "",
  attempt: 1,
  at: began + 5_000,
  durationMs: 40,
  outcome: "delivered",
  status: 200,
  error: null,
  ...of,
});
const deliver = (...attempts: readonly Attempt[]) => createDeliveryRecords(api.database).recordAttempts(attempts);

const ask = (id: string, query = "", key: string = keys.ada) => api.ask("GET", `/v1/traces/${encodeURIComponent(id)}${query}`, { key });
async function trace(id: string, query = "", key?: string) {
  const { status, body, text } = await ask(id, query, key);
  if (status !== 200) throw new Error(`${id}: ${status} ${text}`);
  return body.data as {
    readonly focus_id: string;
    readonly spans: readonly Shown[];
    readonly cut: boolean;
    readonly otel_trace_id: string | null;
  };
}
/** `  kind name status`, indented by depth. */
const lines = (spans: readonly Shown[]): readonly string[] =>
  spans.map(({ depth, kind, name, status = "" }) => `${"  ".repeat(depth)}${kind} ${name} ${status}`.trimEnd());
const eventId = (n: number): string => `${began + n}-0`;

describe("a request that became an event, a workflow run and a webhook", () => {
  const ordered = { emitter: "", emitId: "em_ordered" };
  beforeAll(async () => {
    const error = { name: "Error", message: "busy" };
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    await record(
      {
        ...sourceRun("r_request", {
          events: [committedEvent(eventId(31), { emitId: "em_ordered", channel: "orders", summary: "Order 7" })],
        }),
        traceparent,
      },
      workflowRun("r_billing", {
        workflow: {
          status: "running",
          cause: { ...ordered, emitter: source },
          queuedMs: 7,
          stepCount: 2,
          step: committedStep({ startedAt: began + 60 }),
        },
      }),
      workflowRun("r_billing", {
        workflow: {
          status: "suspended",
          number: 2,
          stepCount: 2,
          step: committedStep({ name: "charge", index: 1, outcome: "retried", error }),
        },
      }),
      workflowRun("r_billing", {
        workflow: { number: 3, stepCount: 2, step: committedStep({ name: "charge", index: 1, attempt: 2, startedAt: began + 4_000 }) },
        events: [committedEvent(eventId(4_021), { emitId: "em_billed" })],
      }),
    );
    const billed = { source: mine, subscription: "sub_shop" };
    await deliver(
      attempt(eventId(4_021), "em_billed", { ...billed, outcome: "retry", status: 503, error: "the endpoint answered 503" }),
      attempt(eventId(4_021), "em_billed", { ...billed, attempt: 2, at: began + 9_000 }),
    );
  });

  const whole = [
    "event HTTP request",
    "  run Orders succeeded",
    "    queue Queue",
    "    start Start of the code",
    "    event orders",
    "      run Billing succeeded",
    "        queue Queue",
    "        step first succeeded",
    "        step charge succeeded",
    "          attempt Attempt 1 failed",
    "          wait Wait before the next attempt",
    "          attempt Attempt 2 succeeded",
    "        event Event",
    "          delivery Shop succeeded",
    "            attempt Attempt 1 failed",
    "            attempt Attempt 2 succeeded",
  ];

  test.each([
    ["the first run", () => "r_request", () => `${source}.r_request`],
    ["the event", () => `${source}.${eventId(31)}`, () => `${source}.em_ordered`],
    ["the workflow run", () => "r_billing", () => `${mine}.r_billing`],
    ["the webhook-id", () => "em_billed", () => `${mine}.em_billed`],
    ["the delivery", () => "em_billed.sub_shop", () => "em_billed.sub_shop"],
  ])("is one tree from %s", async (_what, id, focus) => {
    const { spans, focus_id, cut, otel_trace_id } = await trace(id());
    expect(lines(spans)).toEqual(whole);
    expect([focus_id, cut]).toEqual([focus(), false]);
    expect(otel_trace_id).toBe("0af7651916cd43dd8448eb211c80319c");
    for (const { id: of, trace_id } of spans) if (trace_id !== undefined) expect((await trace(trace_id)).focus_id).toBe(of);
  });

  test("has times, versions and ids, and no contents", async () => {
    const { spans } = await trace("r_request");
    const [first, run, queue, start, event] = spans;
    expect([first?.started_at_ms, queue, start]).toMatchObject([
      began - 12,
      { started_at_ms: began - 12, ended_at_ms: began },
      { started_at_ms: began, ended_at_ms: began + 4 },
    ]);
    expect(run).toMatchObject({ source_id: source, run_id: "r_request", deployment_id: "d_orders", ended_at_ms: began + 34, cpu_ms: 3 });
    expect(event).toMatchObject({ detail: "Order 7", event_id: eventId(31), started_at_ms: began + 31 });
    expect(JSON.stringify(spans)).not.toContain("payload");
  });

  test("is what is below with below=true", async () => {
    expect(lines((await trace("r_request", "?below=true")).spans)).toEqual(whole.slice(1).map((line) => line.slice(2)));
    expect(lines((await trace(`${mine}.${eventId(4_021)}`, "?below=true")).spans)).toEqual(whole.slice(12).map((line) => line.slice(8)));
  });
});

test("a workflow's calls and sends are below the step and the run that asked for them", async () => {
  await record(
    workflowRun("r_caller", {
      workflow: { status: "suspended", stepCount: 1, resumeAt: began + 1e6, step: committedStep({ name: "call", outcome: "suspended" }) },
    }),
    workflowRun("r_ccalled", { source: called, workflow: { cause: { emitter: mine, emitId: "r_caller-c1" } } }),
  );
  const send = { source: called, webhook: called, subscription: called, channel: "$send.http" };
  await deliver(
    attempt("r_ccalled", "r_ccalled.s0", { ...send, delivery: "r_ccalled.s0", outcome: "dead", status: null, error: "no route" }),
  );
  const tree = [
    "event Event",
    "  run Billing waiting",
    "    step call waiting",
    "      run Receipts succeeded",
    "        step first succeeded",
    "        delivery HTTP request of $.send failed",
    "      wait Suspended waiting",
  ];
  for (const id of ["r_caller", "r_ccalled", "r_ccalled.s0"]) expect(lines((await trace(id)).spans)).toEqual(tree);
});

test("a step within another one is below it, in each round", async () => {
  const names = ["each", "decide", "deep", "flat", "decide", "deep", "flat", "last", "of_an_earlier_version"];
  await record(
    ...names.map((name, index) =>
      workflowRun("r_nested", {
        source: nested,
        workflow: {
          status: index === names.length - 1 ? "succeeded" : "running",
          number: index + 1,
          stepCount: 1,
          step: committedStep({ name, index, startedAt: began + index * 30 }),
        },
      }),
    ),
  );
  const round = ["      step decide succeeded", "        step deep succeeded", "      step flat succeeded"];
  expect(lines((await trace("r_nested")).spans)).toEqual([
    "event Event",
    "  run Nested succeeded",
    "    step each succeeded",
    ...round,
    ...round,
    "    step last succeeded",
    "    step of_an_earlier_version succeeded",
  ]);
});

test("shows runs with long and malformed strings: a NUL and half an emoji", async () => {
  const hostile = `\u0000\ud83d"}{\\","durationMs":1,`.repeat(1_000);
  const base = sourceRun("r_hostile");
  const dbChanges = [{ prop: "db", key: hostile, change: "added", bytes: 3 }] as const;
  const run = { ...base.run, dbChanges, result: JSON.stringify(hostile), received: JSON.stringify(hostile) };
  await record({
    ...base,
    run,
    error: { name: hostile, message: hostile },
    traceparent: "00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203331-01",
  });
  // As an earlier version has written it: the result is before most of what traces show.
  const earlier = { id: "r_earlier", trigger: "http", durationMs: 30, cpuMs: 3, result: hostile, queuedMs: 12 };
  await sql`insert into runs (source, id, owner, deployment, started_ms, failed, summary)
    values (${source}, 'r_earlier', ${ada.id}, 'd_orders', ${began}, true, ${JSON.stringify(earlier)})`.execute(api.database.db);
  const { spans, otel_trace_id } = await trace("r_hostile");
  expect(lines(spans)).toEqual(["event HTTP request", "  run Orders failed", "    queue Queue", "    start Start of the code"]);
  expect(spans[1]).toMatchObject({ cpu_ms: 3, ended_at_ms: began + 34 });
  expect(otel_trace_id).toBe("0af7651916cd43dd8448eb211c80319d");
  const [, old] = (await trace("r_earlier")).spans;
  expect(old).toMatchObject({ status: "failed", cpu_ms: 3, ended_at_ms: began + 30 });
});

describe("what is not stored", () => {
  test("ends the tree: an expired event is named as gone, and an expired run is left out", async () => {
    await record(
      sourceRun("r_after_expiry", { trigger: "event", cause: { emitter: source, emitId: "em_expired" } }),
      sourceRun("r_expired", { events: [committedEvent(eventId(77), { emitId: "em_of_expired" })] }),
    );
    await sql`delete from runs where id = 'r_expired'`.execute(api.database.db);
    const [gone, run] = (await trace("r_after_expiry")).spans;
    expect(gone).toMatchObject({ kind: "event", gone: true, started_at_ms: null });
    expect(gone).not.toHaveProperty("event_id");
    expect(run).toMatchObject({ kind: "run", parent_id: gone?.id });
    expect(lines((await trace(`${source}.${eventId(77)}`)).spans)).toEqual(["event Event"]);
    await api.ask("DELETE", `/v1/sources/${source}/events?start_id=${eventId(77)}&end_id=${eventId(77)}`);
    expect((await ask(`${source}.${eventId(77)}`)).status).toBe(404);
  });

  test("ends the tree where a source was deleted", async () => {
    const middle = (await api.ask("POST", "/v1/sources", { body: { component_code: "name: Middle", name: "Middle" } })).body.data.id;
    await record(
      sourceRun("r_above", { events: [committedEvent(eventId(90), { emitId: "em_above" })] }),
      sourceRun("r_middle", {
        of: middle,
        cause: { emitter: source, emitId: "em_above" },
        events: [committedEvent(eventId(91), { emitId: "em_middle" })],
      }),
      workflowRun("r_below", { workflow: { cause: { emitter: middle, emitId: "em_middle" } } }),
    );
    expect(lines((await trace("r_below")).spans)).toContain("      run Middle succeeded");
    await api.ask("DELETE", `/v1/sources/${middle}`);
    await api.history.deleteSource(middle);
    const { spans } = await trace("r_below");
    expect(lines(spans)).toEqual(["event null", "  run Billing succeeded", "    step first succeeded"]);
    expect(JSON.stringify(spans)).not.toContain(middle);
    expect(lines((await trace("r_above")).spans)).toEqual([
      "event HTTP request",
      "  run Orders succeeded",
      "    queue Queue",
      "    start Start of the code",
      "    event Event",
    ]);
  });

  test.each(["r_unknown", "dc_unknown.1-0", "em_unknown.sub_unknown", "x", "%", "r_", "..", "a".repeat(3_000), "dc_x.1-0.2", "'; --"])(
    "returns 404 for %s",
    async (id) => expect((await ask(id)).status).toBe(404),
  );

  test("asks for the source of an event", async () => {
    const { status, body } = await ask(eventId(31));
    expect([status, body.error]).toEqual([422, expect.stringContaining(`dc_….${eventId(31)}`)]);
  });
});

describe("what belongs to another owner", () => {
  beforeAll(async () => {
    await record(
      sourceRun("r_shared", { events: [committedEvent(eventId(200), { emitId: "em_shared", summary: "secretive" })] }),
      workflowRun("r_of_bob", { source: bobs, owner: bob.id, workflow: { cause: { emitter: source, emitId: "em_shared" } } }),
      workflowRun("r_of_ada", { workflow: { cause: { emitter: source, emitId: "em_shared" } } }),
    );
  });

  test("is a leaf without name, ids and times", async () => {
    const { spans } = await trace("r_shared");
    const hidden = spans.find(({ hidden }) => hidden);
    expect(hidden).toEqual({
      id: "hidden-1",
      parent_id: `${source}.em_shared`,
      depth: 3,
      kind: "run",
      name: null,
      started_at_ms: null,
      ended_at_ms: null,
      hidden: true,
    });
    expect(JSON.stringify(spans)).not.toMatch(/p_bobs|r_of_bob|Of Bob/);
  });

  test("hides what led to a run of the caller, and what else it caused", async () => {
    const { spans } = await trace("r_of_bob", "", keys.bob);
    expect(lines(spans)).toEqual(["event null", "  run Of Bob succeeded", "    step first succeeded"]);
    expect(JSON.stringify(spans)).not.toMatch(new RegExp(`${source}|em_shared|r_shared|r_of_ada|Orders|secretive`));
  });

  test("does not hide what is the caller's behind many forged records with its id", async () => {
    await record(sourceRun("r_contested"));
    await sql`insert into runs (source, id, owner, deployment, started_ms, failed, summary)
      select 'dc_forger', 'r_contested', ${bob.id}, 'd_1', ${began}, false, '{}' from generate_series(1, 150)`.execute(api.database.db);
    expect((await trace("r_contested")).focus_id).toBe(`${source}.r_contested`);
    await deliver(
      ...Array.from({ length: 150 }, (_, n) =>
        attempt(eventId(300), "em_contested", { delivery: `em_contested.sub_${n}`, webhook: "wh_forged", owner: bob.id }),
      ),
      attempt(eventId(300), "em_contested"),
    );
    expect((await trace("em_contested")).focus_id).toBe("em_contested.sub_shop");
  });

  test("is not found by its id", async () => {
    for (const id of ["r_shared", `${source}.${eventId(200)}`, "em_billed.sub_shop", "em_billed", "r_ccalled.s0"])
      expect((await ask(id, "", keys.bob)).status).toBe(404);
    expect((await ask("r_of_bob")).status).toBe(404);
    expect((await ask("r_shared", `?org_id=${acme.id}`)).status).toBe(404);
  });
});

describe("very many spans", () => {
  const run = (of: string, id: string, cause: string | null, emitter = of): readonly unknown[] => [
    of,
    id,
    cause === null ? null : emitter,
    cause,
  ];
  /** Rows as the recorder writes them. */
  async function insertRuns(rows: readonly (readonly unknown[])[]): Promise<void> {
    const summary = JSON.stringify({ trigger: "event", durationMs: 1, cpuMs: 1, result: null });
    await sql`insert into runs (source, id, owner, deployment, started_ms, failed, summary, cause_emitter, cause_emit_id)
      select source, id, ${ada.id}, 'd_1', ${began}, false, ${summary}, emitter, cause
      from unnest(${rows.map(([of]) => of)}::text[], ${rows.map(([, id]) => id)}::text[], ${rows.map(([, , by]) => by)}::text[],
        ${rows.map(([, , , cause]) => cause)}::text[]) as row (source, id, emitter, cause)`.execute(api.database.db);
  }
  const insertEvents = (of: string, rows: readonly { readonly emit: string; readonly run: string; readonly n: number }[]) =>
    sql`insert into events (source, ms, seq, emit_id, channel, ts, payload, run)
      select ${of}, ${began}, n, emit, '', ${began}, '{}', run
      from unnest(${rows.map(({ n }) => n)}::bigint[], ${rows.map(({ emit }) => emit)}::text[], ${rows.map(({ run: by }) => by)}::text[]) as row (n, emit, run)
      `.execute(api.database.db);

  test("of a cycle of subscriptions are a chain, and a forged cycle ends", async () => {
    const other = (await api.ask("POST", "/v1/sources", { body: { component_code: "name: Echo", name: "Echo" } })).body.data.id;
    const of = (n: number): string => (n % 2 === 0 ? source : other);
    const ids = Array.from({ length: 100 }, (_, n) => n);
    await insertRuns(ids.map((n) => run(of(n), `r_cycle${n}`, n === 0 ? null : `em_cycle${n - 1}`, of(n - 1))));
    for (const n of ids) await insertEvents(of(n), [{ emit: `em_cycle${n}`, run: `r_cycle${n}`, n: 1_000 + n }]);
    const [first, middle] = [await trace("r_cycle0"), await trace("r_cycle50")];
    expect(middle.spans).toEqual(first.spans);
    expect(first.spans.filter(({ kind }) => kind === "run")).toHaveLength(100);
    expect([first.cut, Math.max(...first.spans.map(({ depth }) => depth))]).toEqual([false, 200]);

    await insertRuns([run(source, "r_forged", "em_forged")]);
    await insertEvents(source, [{ emit: "em_forged", run: "r_forged", n: 9_000 }]);
    expect(lines((await trace("r_forged")).spans)).toEqual(["event Event", "  run Orders succeeded"]);
  });

  test("are not read beyond the room that is left, however many parents there are", async () => {
    const ids = Array.from({ length: 400 }, (_, n) => n);
    await insertRuns([run(source, "r_many", null)]);
    for (const n of ids) await insertEvents(source, [{ emit: `em_many${n}`, run: "r_many", n: 20_000 + n }]);
    await insertRuns(ids.flatMap((n) => Array.from({ length: 20 }, (_, m) => run(source, `r_many${n}x${m}`, `em_many${n}`))));
    const causes = ids.map((n) => ({ emitter: source, emitId: `em_many${n}` }));
    const [found, read] = await api.database.db.transaction().execute(async (db) => {
      await sql`set local enable_seqscan = off`.execute(db); // The table is small.
      await sql`set local enable_incremental_sort = off`.execute(db); // The bound must not depend on this choice of the planner.
      const runs = await createTraceRecords({ db }).caused(causes, 100);
      const { rows } = await sql<{ readonly read: number }>`
        select idx_tup_fetch + seq_tup_read as read from pg_stat_xact_user_tables where relname = 'runs'`.execute(db);
      return [runs, Number(rows[0]?.read)];
    });
    expect(found.map(({ of }) => of)).toEqual(Array.from({ length: 100 }, (_, n) => Math.floor(n / 20)));
    expect(read).toBeGreaterThanOrEqual(100);
    expect(read).toBeLessThan(200);
    const { spans } = await trace("r_many");
    expect(spans.filter(({ kind }) => kind === "run").length).toBeGreaterThan(550);
    // The first parents have all of theirs, the last ones none.
    const events = spans.filter(({ kind, depth }) => kind === "event" && depth === 2);
    expect(events.findLastIndex(({ has_more }) => !has_more)).toBeLessThan(events.findIndex(({ has_more }) => has_more));
  });

  test("of a chain of 10,000 are 1,000 around the run that was asked for", async () => {
    const ids = Array.from({ length: 10_000 }, (_, n) => n);
    await sql`insert into workflow_runs (workflow, id, number, owner, deployment, trigger, status, started_ms, step_count, steps_done, compute_ms, cause_emitter, cause_emit_id)
      select ${mine}, 'r_long' || n, 1, ${ada.id}, 'd_1', 'event', 'succeeded', ${began}, 1, 1, 1, ${mine}, case when n > 0 then 'r_long' || (n - 1) || '-c1' end
      from unnest(${ids}::integer[]) as row (n)`.execute(api.database.db);
    await sql`insert into workflow_steps (workflow, run, number, step, name, place, attempt, started_ms, duration_ms, cpu_ms, outcome, exports, logs)
      select ${mine}, 'r_long' || n, 1, 'c_1', 'call', 0, 1, ${began}, 1, 1, 'suspended', '{}', '[]' from unnest(${ids}::integer[]) as row (n)
      `.execute(api.database.db);
    const { spans, cut, focus_id } = await trace("r_long5000");
    expect([spans.length <= 1_000, spans.length > 900, cut]).toEqual([true, true, true]);
    expect(spans[0]).toMatchObject({ kind: "run", has_more: true });
    expect(spans.filter(({ has_more }) => has_more).length).toBeGreaterThan(1);
    expect(spans.some(({ id }) => id === focus_id)).toBe(true);
  });

  test("of a fan-out of 5,000 are 1,000, among them what was asked for", async () => {
    const ids = Array.from({ length: 5_000 }, (_, n) => n);
    await insertRuns([run(source, "r_wide", null)]);
    await insertEvents(source, [{ emit: "em_wide", run: "r_wide", n: 10_000 }]);
    await insertRuns(ids.map((n) => run(source, `r_wide${n}`, "em_wide")));
    const { spans, cut } = await trace("r_wide4000");
    expect([spans.length <= 1_000, spans.length > 990, cut]).toEqual([true, true, true]);
    expect(spans.some(({ id }) => id === `${source}.r_wide4000`)).toBe(true);
    expect(spans.find(({ id }) => id === `${source}.em_wide`)).toHaveProperty("has_more", true);
    const before = api.queries;
    await trace("r_wide");
    expect(api.queries - before).toBeLessThan(20);
  });
});
