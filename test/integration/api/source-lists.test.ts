import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { acme, ada, keys, withApi } from "./support.ts";

const api = withApi();

const list = async (query: string) => (await api.ask("GET", `/v1/users/me/sources?${query}`)).body;
const namesOf = async (query: string): Promise<readonly string[]> =>
  (await list(query)).data.map(({ name }: { name: string }) => name).toSorted();

describe("lists of sources", () => {
  beforeAll(async () => {
    const create = async (body: object, query = "") => (await api.ask("POST", `/v1/sources${query}`, { body })).body.data.id;
    const feed = "name: Feed; key: feed-items";
    await create({ component_code: feed, name: "Feed of news" });
    await create({ component_code: feed, name: "Feed of orders", active: false });
    await create({ component_code: "name: Mail; key: mail-in", name: "Orders by mail" });
    await create({ component_code: "name: Both; key: both; props: http timer", name: "Both" });
    await create({ component_code: "name: Tick; key: tick; props: timer", name: "Tick" });
    await create({ component_code: feed, name: "Feed of Acme" }, `?org_id=${acme.id}`);
    await api.ask("POST", "/v1/sources", { key: keys.bob, body: { component_code: feed, name: "Feed of Bob" } });
  });

  test.each([
    ["state=active", ["Both", "Feed of news", "Orders by mail", "Tick"]],
    ["state=paused", ["Feed of orders"]],
    ["state=failing", []],
    ["state=", ["Both", "Feed of news", "Feed of orders", "Orders by mail", "Tick"]],
    ["trigger=http", ["Both"]],
    ["trigger=timer", ["Both", "Tick"]],
    ["trigger=timer&q=tick", ["Tick"]],
    ["trigger=none", ["Feed of news", "Feed of orders", "Orders by mail"]],
    ["trigger=", ["Both", "Feed of news", "Feed of orders", "Orders by mail", "Tick"]],
    ["q=ORDERS", ["Feed of orders", "Orders by mail"]],
    ["q=mail-in", ["Orders by mail"]],
    ["q=nothing like this", []],
    ["component_key=feed-items", ["Feed of news", "Feed of orders"]],
    ["component_key=feed", []],
    ["q=orders&component_key=feed-items&state=paused", ["Feed of orders"]],
    [`q=feed&org_id=${acme.id}`, ["Feed of Acme"]],
  ])("%s shows %j", async (query, names) => {
    expect(await namesOf(query)).toEqual(names);
    expect((await list(query)).page_info).toMatchObject({ total_count: names.length, count: names.length });
  });

  test("accept the same filters on other paths", async () => {
    const names = async (path: string) => (await api.ask("GET", path)).body.data.map(({ name }: { name: string }) => name);
    expect(await names("/v1/sources?q=mail")).toEqual(["Orders by mail"]);
    expect(await names(`/v1/orgs/${acme.id}/sources?state=active`)).toEqual(["Feed of Acme"]);
    expect(await names(`/v1/orgs/${acme.id}/sources?state=paused`)).toEqual([]);
  });

  test("have pages with a filter", async () => {
    const first = await list("q=orders&limit=1");
    expect(first.page_info).toMatchObject({ total_count: 2, count: 1 });
    const second = await list(`q=orders&limit=1&after=${first.page_info.end_cursor}`);
    expect([...first.data, ...second.data].map(({ name }) => name)).toEqual(["Orders by mail", "Feed of orders"]);
    expect((await list(`q=orders&limit=1&after=${second.page_info.end_cursor}`)).data).toEqual([]);
    expect((await list(`q=orders&limit=1&before=${second.page_info.start_cursor}`)).data).toEqual(first.data);
  });

  test("refuse an unknown state and a string that is too long", async () => {
    const unknown = await api.ask("GET", "/v1/users/me/sources?state=broken");
    expect([unknown.status, unknown.body.error]).toEqual([
      422,
      "state is invalid: it must be active, paused, failing, disabled or deploying",
    ]);
    expect((await api.ask("GET", `/v1/users/me/sources?q=${"x".repeat(201)}`)).status).toBe(422);
    expect((await api.ask("GET", "/v1/users/me/sources?state=active&state=paused")).status).toBe(422);
  });

  test("need the same number of queries for any page of 10,000 sources", async () => {
    await addMany(10_000);
    /** The API's watches ask now and then: the fewest of several tries are those of the request. */
    const cost = async (query: string) => {
      const costs: number[] = [];
      for (let tries = 0; tries < 5; tries++) {
        const before = api.queries;
        const { body } = await api.ask("GET", `/v1/users/me/sources?${query}`, { key: keys.bob });
        expect(body.data.length).toBeGreaterThan(0);
        costs.push(api.queries - before);
      }
      return Math.min(...costs);
    };
    const sorted = ["limit=100&sort=name", "limit=100&sort=-updated_at&state=failing"];
    const queries = [
      "limit=2",
      "limit=100",
      "limit=100&state=failing",
      "limit=100&q=many",
      "limit=100&component_key=many&state=active",
      "limit=100&trigger=none",
    ];
    // The caller, the page, the latest runs, and the components that are not in memory.
    for (const query of [...queries, ...sorted]) expect(await cost(query), query).toBe(4);
    expect(await totals("state=failing")).toBe(1_000);
    expect(await totals("state=active&q=many")).toBe(9_000);
  });
});

const totals = async (query: string): Promise<number> =>
  (await api.ask("GET", `/v1/users/me/sources?limit=1&${query}`, { key: keys.bob })).body.page_info.total_count;

/** Deployed sources of Bob, each with a component of its own and two runs; the last run of every tenth has failed. */
async function addMany(count: number): Promise<void> {
  const { db } = api.database;
  const { rows } = await sql<{ namespace: string }>`
    select namespace from resources where kind = 'Source' and namespace <> ${`hw-${ada.id.replace("_", "-")}`} and namespace not like 'hw-o-%' limit 1`.execute(
    db,
  );
  const { namespace = "" } = rows[0] ?? {};
  const condition = { type: "Ready", status: "True", reason: "Deployed", message: "", observedGeneration: 1 };
  const conditions = [{ ...condition, lastTransitionTime: "2026-11-21T12:00:00Z" }];
  const definition = { name: "Many", key: "many", type: "source", props: [], hooks: [], hasAdditionalProps: false };
  await sql`
    insert into resources (kind, namespace, name, uid, resource_version, created_version, generation, created_at, finalizers, labels, annotations, spec, status, component)
    select kind, ${namespace}, case kind when 'Source' then 'dc-many' || n else 'c' || n end, gen_random_uuid(), 1, 1, 1, now() - make_interval(secs => n), '{}',
      case kind when 'Source' then jsonb_build_object('headwater.dev/id', 'dc_many' || n) else '{}' end, '{}',
      case kind when 'Source' then json_build_object('name', 'Many ' || n, 'active', true, 'componentRef', json_build_object('name', 'c' || n),
        'props', json_build_object(), 'secrets', json_build_object()) else json_build_object('code', 'x') end,
      case kind when 'Source' then json_build_object('id', 'dc_many' || n, 'deployment', 'd_1', 'nameSlug', 'many-' || n, 'conditions', ${JSON.stringify(conditions)}::json)
        else json_build_object() end,
      case kind when 'Component' then ${JSON.stringify({ definition, codeHash: "h", updatedAt: null })}::jsonb end
    from generate_series(1, ${count}::int) n, unnest(array['Source', 'Component']) kind`.execute(db);
  await sql`
    insert into runs (source, id, owner, deployment, started_ms, failed, summary)
    select 'dc_many' || n, 'r_' || run || n, 'u_bob', 'd_1', run, run = 2 and n % 10 = 0,
      case when run = 2 and n % 10 = 0 then '{"error":{"name":"Error","message":"no"}}' else '{"error":null}' end
    from generate_series(1, ${count}::int) n, generate_series(1, 2) run`.execute(db);
}
