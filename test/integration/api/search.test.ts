import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { labels } from "../../../crds/resource.ts";
import { emptyWorkflow, workflowKind } from "../../../crds/workflow.ts";
import { namespaceOfOwner, resourceNameOf } from "../../../domain/ids.ts";
import type { CommittedEvent } from "../../../domain/event/committed-event.ts";
import type { LogRecord } from "../../../domain/run-products.ts";
import { emptyState, type Commit } from "../../../domain/run/commit.ts";
import { maxExcerpt } from "../../../domain/search/match.ts";
import { parseSearch } from "../../../domain/search/query.ts";
import { createSearchRecords } from "../../../platform/postgres/search/search.ts";
import { recordable } from "../../domain/run/workflow-commits.ts";
import { committedEvent } from "../committed-event.ts";
import { acme, ada, bob, keys, withApi } from "./support.ts";

/** The search over a real Postgres: what it finds, for whom, and how far one request looks. */
const api = withApi();
const began = Date.UTC(2027, 0, 31, 12);
const billing = "p_billing";
let seq = 0;
const sources: Record<"orders" | "stock" | "ours" | "bobs", string> = { orders: "", stock: "", ours: "", bobs: "" };

interface Item {
  readonly kind: string;
  readonly id: string;
  readonly at_ms: number;
  readonly source_id: string;
  readonly source_name: string;
  readonly run_id: string;
  readonly trace_id: string;
  readonly level: string | null;
  readonly status: string | null;
  readonly channel: string | null;
  readonly excerpt: string;
}
interface Page {
  readonly items: readonly Item[];
  readonly cursor: string | null;
  readonly searched_to_ms: number | null;
}
type Query = Readonly<Record<string, string | number>>;

const ask = (query: Query, key: string = keys.ada, path = "/v1/search") =>
  api.ask("GET", `${path}?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString()}`, { key });
async function search(q: string, query: Query = {}, key?: string, path?: string): Promise<Page> {
  const { status, body, text } = await ask({ q, ...query }, key, path);
  if (status !== 200) throw new Error(`${q}: ${status} ${text}`);
  return body.data;
}
const found = async (q: string, query?: Query, key?: string): Promise<readonly string[]> =>
  (await search(q, query, key)).items.map(({ kind, run_id: run }) => `${kind} ${run}`);

interface Given {
  readonly owner?: string;
  readonly at?: number;
  readonly events?: readonly Partial<CommittedEvent>[];
  readonly logs?: readonly LogRecord[];
  readonly error?: string;
}

function runOf(source: string, id: string, { owner = ada.id, at = 0, events = [], logs = [], error }: Given): Commit {
  const startedAt = began + at;
  return {
    source,
    owner,
    deployment: "d_1",
    run: { id, trigger: "http", generation: 1, startedAt, durationMs: 3, cpuMs: 1, result: null },
    events: events.map((event, index) => committedEvent(event.id ?? `${startedAt + 1}-${index}`, event)),
    logs,
    error: error === undefined ? null : { name: "TypeError", message: error, stack: `TypeError: ${error}\n    at run (a.mjs:3:7)` },
    state: emptyState,
  };
}

const record = (...commits: readonly Commit[]): Promise<unknown> =>
  api.history.recordCommits(
    "RUNS",
    commits.map((commit) => ({ seq: ++seq, commit })),
  );
const line = (k: string, msg: string, at = 0): LogRecord => ({ k, ts: began + at, msg });

async function createSource(name: string, key: string = keys.ada, query = ""): Promise<string> {
  const { status, body, text } = await api.ask("POST", `/v1/sources${query}`, { body: { component_code: `name: ${name}`, name }, key });
  if (status !== 200 && status !== 201) throw new Error(text);
  return body.data.id;
}

beforeAll(async () => {
  Object.assign(sources, {
    orders: await createSource("Orders"),
    stock: await createSource("Stripe stock_level"),
    ours: await createSource("Ours", keys.ada, `?org_id=${acme.id}`),
    bobs: await createSource("Of Bob", keys.bob),
  });
  await api.store.create(workflowKind, {
    namespace: namespaceOfOwner(ada.id),
    name: resourceNameOf(billing),
    labels: { [labels.id]: billing, [labels.owner]: ada.id },
    spec: { ...emptyWorkflow, name: "Billing" },
  });
  const { orders, stock, ours, bobs } = sources;
  const workflow = { status: "failed", number: 1, startedAt: began + 6_000, stepCount: 1 } as const;
  await record(
    runOf(orders, "r_1", {
      events: [{ channel: "paid", summary: "Order 17", payload: JSON.stringify({ note: 'Müller said "NO"\n50% off_sale' }) }],
      logs: [line("console.log", "Reserved STOCK", 2), line("console.error", "negative stock of 17", 3)],
    }),
    runOf(stock, "r_2", {
      at: 1_000,
      events: [{ payload: JSON.stringify({ stock: 3 }) }],
      logs: [{ k: "hook", ts: began + 1_002, h: "deploy" }],
    }),
    runOf(stock, "r_3", { at: 2_000, error: "negative stock", logs: [line("console.warn", "low on ÄPFEL", 2_001)] }),
    runOf(ours, "r_4", { owner: acme.id, at: 3_000, events: [{ payload: '"ours: negative stock"' }] }),
    runOf(bobs, "r_5", { owner: bob.id, at: 4_000, events: [{ payload: '"of Bob: negative stock"' }], error: "negative stock" }),
    recordable({
      source: billing,
      owner: ada.id,
      run: { id: "r_6", trigger: "event", generation: 1, startedAt: began + 6_000, durationMs: 9, cpuMs: 1, result: null },
      logs: [line("console.log", "billing order 17", 6_001)],
      error: { name: "Error", message: "card of order 17 declined", stack: "Error: card" },
      workflow,
    }),
  );
});

describe("a search", () => {
  test("finds events, lines, runs and errors of the caller and their organizations, newest first", async () => {
    const page = await search("");
    expect(page.items.map(({ kind, run_id: run, source_name: name }) => `${kind} ${run} ${name}`)).toEqual([
      "log r_6 Billing",
      "error r_6 Billing",
      "event r_4 Ours",
      "run r_4 Ours",
      "log r_3 Stripe stock_level",
      "error r_3 Stripe stock_level",
      "log r_2 Stripe stock_level",
      "event r_2 Stripe stock_level",
      "run r_2 Stripe stock_level",
      "log r_1 Orders",
      "log r_1 Orders",
      "event r_1 Orders",
      "run r_1 Orders",
    ]);
    expect([page.cursor, page.searched_to_ms]).toEqual([null, null]);
  });

  test("returns what leads to the item, and an excerpt around the match", async () => {
    const { items } = await search("order -billing");
    expect(items).toEqual([
      {
        kind: "error",
        id: "r_6",
        at_ms: began + 6_000,
        source_id: billing,
        source_name: "Billing",
        run_id: "r_6",
        trace_id: "r_6",
        level: "error",
        status: "failed",
        channel: null,
        excerpt: "Error: card of order 17 declined",
      },
      {
        kind: "event",
        id: `${began + 1}-0`,
        at_ms: began + 1,
        source_id: sources.orders,
        source_name: "Orders",
        run_id: "r_1",
        trace_id: `${sources.orders}.${began + 1}-0`,
        level: null,
        status: null,
        channel: "paid",
        excerpt: "Order 17",
      },
    ]);
  });

  test.each<[string, readonly string[]]>([
    ['"negative stock"', ["event r_4", "error r_3", "log r_1"]],
    ["kind:event negative", ["event r_4"]],
    ["level:error", ["error r_6", "error r_3", "log r_1"]],
    ["level:error status:failed", ["error r_6", "error r_3"]],
    ["level:warn,log stock", ["log r_1"]],
    ["status:failed", ["log r_6", "error r_6", "log r_3", "error r_3"]],
    ["status:succeeded kind:log", ["log r_2", "log r_1", "log r_1"]],
    ["kind:run", ["error r_6", "run r_4", "error r_3", "run r_2", "run r_1"]],
    ["source:stripe* kind:error", ["error r_3"]],
    ["source:STRIPE-stock-level kind:run", ["error r_3", "run r_2"]],
    ['source:"Stripe stock_level" kind:event', ["event r_2"]],
    ["workflow:bill*", ["log r_6", "error r_6"]],
    ["source:p_billing,ours kind:event,error", ["error r_6", "event r_4"]],
    ["source:P_BILLING kind:error", ["error r_6"]],
    ["source:absent", []],
    ["source:p_absent,dc_absent", []],
    ["r_2", ["log r_2", "event r_2", "run r_2"]],
    ["run:r_2 kind:event", ["event r_2"]],
    ["run:r_absent", []],
    ["channel:paid", ["event r_1"]],
    ['channel:""', ["event r_4", "event r_2"]],
    ["müller", ["event r_1"]],
    ["MÜLLER", ["event r_1"]],
    ["äpfel", ["log r_3"]],
    ['"said \\"no\\""', ["event r_1"]],
    ["console", []],
    ["msg", []],
    ["TypeError", ["error r_3"]],
    ['"a.mjs:3:7"', ["error r_3"]],
    ["kind:log -stock -order", ["log r_3", "log r_2"]],
    ["deploy", ["log r_2"]],
  ])("%s finds what the grammar says", async (q, expected) => {
    expect(await found(q)).toEqual(expected);
  });

  test.each<[string, readonly string[]]>([
    ["%", ["event r_1"]],
    ["_", ["event r_1"]],
    ["50%", ["event r_1"]],
    ["5_%", []],
    ["off_sale", ["event r_1"]],
    ["off%sale", []],
    ["\\", []],
    ["\\%", []],
    ["'; drop table events; --", []],
    ["source:_rders", []],
    ["source:%", []],
    ["source:\\*", []],
  ])("%s is a text, and no pattern of Postgres", async (q, expected) => {
    expect(await found(q.includes(" ") ? `"${q}"` : q)).toEqual(expected);
  });

  test("refuses what it cannot read, with the position", async () => {
    const { status, body } = await ask({ q: "stock level:fatal" });
    expect([status, body.code, body.details.position]).toEqual([400, "invalid_query", 7]);
    expect(body.error).toBe("the query is invalid at character 7: level 'fatal' is unknown: use error, warn, info, log, debug");
    for (const cursor of [
      "x",
      "W10",
      "a".repeat(500),
      ...['[1,2,"events","a b",3,true]', '[1,2,"events","a",3]', '[1,2,"events","a",3,1]'].map((form) =>
        Buffer.from(form).toString("base64url"),
      ),
    ])
      expect((await ask({ cursor })).body).toMatchObject({ code: "invalid_cursor" });
    expect(await ask({ q: "z".repeat(1_001) })).toMatchObject({
      status: 400,
      body: { code: "invalid_query", details: { position: 1_001 } },
    });
    expect((await ask({ limit: 0 })).status).toBe(422);
    expect((await ask({ q: "a\0" })).status).toBe(422);
  });

  test("bounds excerpts, and searches the beginning of long texts", async () => {
    const payload = JSON.stringify(`${"x ".repeat(5_000)}early-needle ${"y ".repeat(100_000)}late-needle`);
    await record(runOf(sources.orders, "r_long", { at: 7_000, events: [{ payload }] }));
    const [item] = (await search("early-needle")).items;
    expect(item?.excerpt).toMatch(/^….*early-needle.*…$/);
    expect(item?.excerpt.length).toBeLessThanOrEqual(maxExcerpt);
    expect((await search("late-needle")).items).toEqual([]);
  });
});

describe("times", () => {
  test("include after, and exclude before", async () => {
    const at = (ms: number): string => new Date(began + ms).toISOString();
    expect(await found(`kind:event after:${at(1_001)} before:${at(3_001)}`)).toEqual(["event r_2"]);
    expect(await found(`kind:event after:${at(1_002)} before:${at(3_002)}`)).toEqual(["event r_4"]);
  });

  test("that a runner has forged are found, and shown as a date can be", async () => {
    const events = [{ id: "999999999999999-0", payload: '"forged"' }];
    const logs = [
      { k: "console.log", ts: Number.MAX_VALUE, msg: "forged" },
      { k: "console.log", ts: -1e300, msg: "forged" },
    ];
    await record(runOf(sources.orders, "r_forged", { events, logs }));
    const { items } = await search("forged");
    expect(items.map(({ kind, at_ms }) => [kind, at_ms])).toEqual([
      ["log", 8.64e15],
      ["event", 999_999_999_999_999],
      ["log", -8.64e15],
    ]);
    for (const { at_ms: at } of items) expect(() => new Date(at).toISOString()).not.toThrow();
  });
});

describe("pages", () => {
  test("continue without a gap or a repetition, also among items of one millisecond", async () => {
    const events = (from: number) =>
      Array.from({ length: 30 }, (_, index) => ({ id: `${began - 5_000}-${from + index}`, payload: '"page"' }));
    const logs = Array.from({ length: 30 }, () => line("console.log", "page", -5_000));
    await record(
      runOf(sources.orders, "r_p1", { at: -5_000, events: events(0), logs }),
      runOf(sources.stock, "r_p2", { at: -5_000, events: events(0), logs }),
    );
    const all = (await search("page", { limit: 100 })).items.map(({ source_id, kind, id }) => `${source_id} ${kind} ${id}`);
    expect(new Set(all).size).toBe(100);
    const paged: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Page = await search("page", { limit: 7, ...(cursor === null ? {} : { cursor }) });
      paged.push(...page.items.map(({ source_id, kind, id }) => `${source_id} ${kind} ${id}`));
      cursor = page.cursor;
    } while (cursor !== null);
    expect([paged.length, new Set(paged).size]).toEqual([120, 120]);
    expect(paged.slice(0, 100)).toEqual(all);
  });

  test("of a rare word end before they are full, say how far they have searched, and find it in the end", async () => {
    const rows = 120_000;
    await sql`insert into events (source, ms, seq, emit_id, channel, ts, payload, run, owner)
      select ${sources.orders}, ${began - 10_000_000}::bigint - i, 0, 'em_' || i, '', 1, case when i = ${rows} then '"rare"' else '"common"' end, 'r_many', ${ada.id}
      from generate_series(1, ${rows}) i`.execute(api.database.db);
    let [pages, cursor, last] = [0, undefined as string | undefined, Number.POSITIVE_INFINITY];
    for (;;) {
      const page = await search("rare", cursor === undefined ? {} : { cursor });
      pages++;
      if (page.items.length > 0 || page.cursor === null) {
        expect(page.items.map(({ excerpt }) => excerpt)).toEqual(['"rare"']);
        break;
      }
      expect(page.searched_to_ms).toBeLessThan(last);
      [last, cursor] = [page.searched_to_ms ?? 0, page.cursor];
    }
    expect(pages).toBeGreaterThan(1);
    // A window that Postgres does not read in time is no error: the next one is smaller.
    const window = { query: parseSearch("rare", 0), owners: [ada.id], isByOwner: false, limit: 10 };
    const impatient = createSearchRecords(api.database, 1);
    expect(await impatient.readWindow({ ...window, rows: 4_096 })).toEqual({ outcome: "too_slow" });
    expect((await createSearchRecords(api.database).readWindow({ ...window, rows: 16 })).outcome).toBe("read");
    await sql`delete from events where run = 'r_many'`.execute(api.database.db);
  });
});

describe("rights", () => {
  test("are those of the caller: nothing of other users or organizations", async () => {
    expect(await found('"negative stock"', {}, keys.bob)).toEqual(["event r_5", "error r_5"]);
    expect(await found("run:r_1", {}, keys.bob)).toEqual([]);
    expect(await found(`source:${sources.orders}`, {}, keys.bob)).toEqual([]);
  });

  test("with an organization, are its items alone, and only for members", async () => {
    for (const [path, query] of [
      [`/v1/orgs/${acme.id}/search`, {}],
      ["/v1/search", { org_id: acme.id }],
    ] as const) {
      const page = await search("", query, keys.ada, path);
      expect(page.items.map(({ run_id: run }) => run)).toEqual(["r_4", "r_4"]);
      expect((await ask({ q: "", ...query }, keys.bob, path)).status).toBe(403);
    }
  });

  test("end with the membership", async () => {
    await api.accounts.putMember(bob.id, acme.id, "member");
    expect(await found("kind:event", {}, keys.bob)).toEqual(["event r_5", "event r_4"]);
    const { cursor } = await search("", { limit: 1 }, keys.bob);
    await api.accounts.removeMember(bob.id, acme.id);
    expect(await found("kind:event", {}, keys.bob)).toEqual(["event r_5"]);
    const rest = await search("", { cursor: cursor ?? "" }, keys.bob);
    expect(rest.items.every(({ source_id: id }) => id === sources.bobs)).toBe(true);
  });
});

describe("what was deleted", () => {
  test("is not found: neither events, nor a source, whatever is left of its history", async () => {
    const gone = await createSource("Gone");
    await record(runOf(gone, "r_gone", { events: [{ payload: '"gone"' }], logs: [line("console.log", "gone")], error: "gone" }));
    expect(await found("gone")).toEqual(["event r_gone", "log r_gone", "error r_gone"]);
    // Its events are hidden at once, and deleted later.
    await sql`insert into event_deletions (source, end_ms, end_seq, next_ms, next_seq) values (${gone}, ${began + 9_000}, 0, 0, 0)`.execute(
      api.database.db,
    );
    expect(await found("gone")).toEqual(["log r_gone", "error r_gone"]);
    expect((await api.ask("DELETE", `/v1/sources/${gone}`)).status).toBe(204);
    expect(await found("gone")).toEqual([]);
    expect(await found("source:gone")).toEqual([]);
    await api.history.deleteSource(gone);
    expect(await found("gone")).toEqual([]);
  });
});

describe("rows of an earlier version", () => {
  test("are found once upkeep has filled in their owner and time", async () => {
    const { orders } = sources;
    const db = api.database.db;
    await record(runOf(orders, "r_old", { at: -20_000 }));
    // As that version writes them: without the columns.
    await sql`insert into events (source, ms, seq, emit_id, channel, ts, payload, run) values (${orders}, ${began - 20_000}, 0, 'em_old', '', 1, '"antique"', 'r_old')`.execute(
      db,
    );
    await sql`insert into logs (source, run, record, place) values (${orders}, 'r_old', ${JSON.stringify(line("console.log", "antique", -19_000))}, 0),
      ('dc_unknown', 'r_none', '{"k":"console.log"}', 0)`.execute(db);
    expect(await found("antique")).toEqual([]);
    while (await api.history.fillSearchColumns());
    expect(await found("antique")).toEqual(["log r_old", "event r_old"]);
    const { rows } = await sql`select owner, at_ms from logs where source = 'dc_unknown'`.execute(db);
    expect(rows).toEqual([{ owner: "", at_ms: 0 }]);
  });

  test("are filled in in batches, also those of sources that are behind the last batch", async () => {
    const db = api.database.db;
    const write = (source: string, count: number) =>
      sql`insert into logs (source, run, record, place) select ${source}, 'r_none', '{"k":"console.log"}', n from generate_series(1, ${count}::integer) n`.execute(
        db,
      );
    await write("dc_b", 900);
    await write("dc_c", 900);
    expect(await api.history.fillSearchColumns()).toBe(true);
    await write("dc_a", 10);
    while (await api.history.fillSearchColumns());
    const { rows } = await sql<{ n: number }>`select count(*) as n from logs where owner is null`.execute(db);
    expect(rows).toEqual([{ n: 0 }]);
  });
});
