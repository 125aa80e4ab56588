import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { withPostgres } from "../support/postgres.ts";
import { withFamilies } from "./support/families-support.ts";
import { until } from "../support/until.ts";

/** Life cycles of components that use the SDK packages of their services; packages come from the npm registry. */
const world = withFamilies();
const postgres = withPostgres();
const { call } = world.headwater;
const json = { "content-type": "application/json" };
const post = (url: string, body: string, headers: Record<string, string> = json) => fetch(url, { method: "POST", headers, body });

/** The options of a prop, page by page. */
async function choices(source: { id: string }, prop: string, props: object): Promise<readonly unknown[]> {
  const { body } = await call<{ data: { component_id: string } }>("GET", `/sources/${source.id}`);
  const found: unknown[] = [];
  for (let page = 0, context: unknown = null; page < 3; page++) {
    const asked = { prop_name: prop, configured_props: props, page, ...(context === null ? {} : { prev_context: context }) };
    const answer = await call<{ data: { options: unknown[]; context: unknown } }>(
      "POST",
      `/components/${body.data.component_id}/options`,
      asked,
    );
    expect(answer.status, answer.text).toBe(200);
    found.push(...answer.body.data.options);
    ({ context } = answer.body.data);
    if (answer.body.data.options.length === 0) break;
  }
  return found;
}

it("cloud: signs requests with an SDK, calls the hooks of a base component, and parses notifications sent as plain text", async () => {
  const xml = (name: string, inner: string) => ({
    headers: { "content-type": "text/xml" },
    body: `<${name}Response xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><${name}Result>${inner}</${name}Result><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></${name}Response>`,
  });
  const actions: (string | null)[] = [];
  const plain = { "content-type": "text/plain; charset=UTF-8", "x-amz-sns-message-id": "n1" };
  const service = await world.serve({
    "POST /": ({ text, headers }) => {
      const form = new URLSearchParams(text);
      const action = form.get("Action") ?? "";
      actions.push(action);
      if (!headers.authorization?.startsWith("AWS4-HMAC-SHA256 Credential=AK/")) return { status: 403 };
      if (action === "Subscribe") {
        // The double confirms after it has answered, as the service does.
        const body = JSON.stringify({ Type: "SubscriptionConfirmation", SubscribeURL: `${service.url}/confirm` });
        void post(form.get("Endpoint") ?? "", body, plain).then((answer) => answer.text());
      }
      return xml(
        action,
        action === "CreateTopic"
          ? `<TopicArn>arn:${form.get("Name")}</TopicArn>`
          : "<SubscriptionArn>pending confirmation</SubscriptionArn>",
      );
    },
    "GET /confirm": () => ({ body: { ConfirmSubscriptionResponse: { SubscriptionArn: "arn:s" } } }),
  });
  const cloud = await world.account("cloud", { accessKeyId: "AK", secretAccessKey: "s", endpoint: service.url });
  const source = await world.deployOf("cloud", "sources/object-created.mjs", { cloud, bucket: "my.bucket" });
  await until(() => service.calls().includes("GET /confirm"), "the subscription is confirmed");
  expect(
    (await post(source.endpoint, JSON.stringify({ Message: `{"key":"a.png"}`, Timestamp: "2026-01-01T00:00:00.000Z" }), plain)).status,
  ).toBe(200);
  expect(await world.events(source, 1)).toEqual([{ key: "a.png" }]);
  expect((await world.stored(source))[0]?.metadata).toMatchObject({ id: "n1", ts: Date.UTC(2026, 0, 1), summary: `{"key":"a.png"}` });
  await world.remove(source);
  expect(actions).toEqual(["CreateTopic", "Subscribe", "DeleteTopic"]);
});

it("billing: creates its endpoint with an SDK, emits past events, and checks signatures over the raw body", async () => {
  const secret = "whsec_1";
  const service = await world.serve({
    "POST /v1/webhook_endpoints": ({ text }) => ({ body: { id: "we_1", secret, url: new URLSearchParams(text).get("url") } }),
    "DELETE /v1/webhook_endpoints/*": () => ({ body: { id: "we_1", deleted: true } }),
    "GET /v1/events": () => ({ body: { object: "list", data: [{ id: "evt_0", type: "invoice.paid", created: 1_700_000_000, data: {} }] } }),
  });
  const billing = await world.account("billing", { base_url: service.url, api_key: "sk" });
  const source = await world.deployOf("billing", "sources/custom-events.mjs", { billing, enabledEvents: ["invoice.paid"] });
  const text = JSON.stringify({ id: "evt_1", object: "event", type: "invoice.paid", created: 1_700_000_001, name: "Grüße" }, null, 2);
  const time = Math.floor(Date.now() / 1_000);
  const signed = (key: string) => ({
    ...json,
    "stripe-signature": `t=${time},v1=${createHmac("sha256", key).update(`${time}.${text}`).digest("hex")}`,
  });
  expect((await post(source.endpoint, text, signed(secret))).status).toBe(200);
  const refused = await post(source.endpoint, text, signed("wrong"));
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("No signatures found") as string]);
  expect((await world.events(source, 2)).map((event) => (event as { id: string }).id).sort()).toEqual(["evt_0", "evt_1"]);
  await world.remove(source);
  expect(service.calls().at(-1)).toBe("DELETE /v1/webhook_endpoints/we_1");
});

it("crm: limits its rate, retries or gives up, and reads pages until a known item", async () => {
  let refusals = 1;
  const page = (ids: readonly number[], after?: string) => ({
    body: {
      results: ids.map((id) => ({ id, name: `C${id}`, updatedAt: new Date(Date.UTC(2026, 0, id)) })),
      ...(after && { paging: { next: { after } } }),
    },
  });
  const service = await world.serve({
    "POST /objects/contacts/search": ({ body }) =>
      refusals-- > 0 ? { status: 429 } : body?.["after"] === "2" ? page([2, 1]) : page([4, 3], "2"),
  });
  const source = await world.deployOf("crm", "sources/contact-updated.mjs", { crm: await world.account("crm", { base_url: service.url }) });
  expect((await world.succeed({}, source)).result).toEqual([{ id: 1 }, { id: 2 }]);
  await world.succeed({}, source);
  expect((await world.events(source, 4)).map((event) => (event as { id: number }).id)).toEqual([1, 2, 3, 4]);
  expect(service.asked.map(({ body }) => body?.["attempt"])).toEqual([1, 2, 1, 1]);
});

it("feed: imports TypeScript without extensions, imports types, and pipes a stream through a parser", async () => {
  const item = (n: number) => `<item><guid>g${n}</guid><title>T ${n}</title><pubDate>Thu, 0${n} Jan 2026 00:00:00 GMT</pubDate></item>`;
  const service = await world.serve({
    "GET /rss": () => ({
      headers: { "content-type": "application/rss+xml" },
      body: `<?xml version="1.0"?><rss version="2.0"><channel><title>F</title>${item(2)}${item(1)}</channel></rss>`,
    }),
  });
  const source = await world.deployOf("feed", "sources/new-item/new-item.ts", { urls: [`${service.url}/rss`], feed: undefined });
  for (let time = 0; time < 2; time++) await world.succeed({}, source);
  expect(await world.events(source, 2)).toEqual(
    [1, 2].map((n) => ({ guid: `g${n}`, title: `T ${n}`, pubdate: `2026-01-0${n}T00:00:00.000Z` })),
  );
  const { status, text } = await world.createOf("feed", "sources/new-item/new-item.ts", { urls: [`${service.url}/gone`] });
  expect([status, text]).toEqual([422, expect.stringContaining("does not exist") as string]);
});

it("docs: renews a watch by a hidden timer, reads changes page by page, and advances its page token", async () => {
  let channel = "";
  const service = await world.serve({
    "POST /drive/v3/changes/watch": ({ body, headers }) => {
      channel = String(body?.["id"]);
      return headers.authorization === "Bearer t" ? { body: { id: channel, resourceId: "r", expiration: "1" } } : { status: 401, body: {} };
    },
    "GET /drive/v3/changes": ({ query: { pageToken } }) => ({
      body: {
        changes: [{ file: { id: `f${pageToken}`, name: "N", modifiedTime: "2026-01-01T00:00:00Z" } }],
        ...(pageToken === "1" ? { nextPageToken: "2" } : { newStartPageToken: "3" }),
      },
    }),
    "GET /drive/v3/drives": ({ query: { pageToken } }) =>
      pageToken === "p"
        ? { body: { drives: [{ id: "d2", name: "D2" }] } }
        : { body: { drives: [{ id: "d1", name: "D1" }], nextPageToken: "p" } },
  });
  const docs = await world.account("docs", { base_url: service.url, oauth_access_token: "t" });
  const props = { docs, drive: "myDrive" };
  const source = await world.deployOf("docs", "sources/file-changed.mjs", props);
  const notify = (id: string) =>
    fetch(source.endpoint, { method: "POST", headers: { "x-goog-channel-id": id, "x-goog-resource-state": "update" } });
  for (const id of ["another", channel]) expect((await notify(id)).status).toBe(200);
  expect(await world.events(source, 2)).toMatchObject([
    { id: "f1", mine: true },
    { id: "f2", mine: true },
  ]);
  expect((await world.succeed({ timestamp: 1 }, source)).result).toMatchObject({ renewed: { id: channel } });
  const names = (await choices(source, "drive", { docs })).map((option) => (option as { label: string }).label);
  expect(names).toEqual(["My Drive", "D1", "D2"]);
  await world.remove(source);
});

it("chat: answers a challenge, uses two databases, caches names, and returns options with a cursor", async () => {
  const service = await world.serve({
    "POST /api/conversations.info": ({ text }) => ({
      body: { ok: true, channel: { name: `#${new URLSearchParams(text).get("channel")}` } },
    }),
    "POST /api/conversations.list": ({ text }) => {
      const [cursor, types] = ["cursor", "types"].map((name) => new URLSearchParams(text).get(name));
      const channels = cursor === "end" ? [] : [{ id: cursor ?? "c1", name: `${types} ${cursor ?? "first"}` }];
      return { body: { ok: true, channels, response_metadata: { next_cursor: cursor === null ? "c2" : "end" } } };
    },
  });
  const chat = await world.account("chat", { base_url: service.url, oauth_access_token: "t" });
  const source = await world.deployOf("chat", "sources/new-message.mjs", { chat, conversations: ["C1"] });
  const send = (body: object) => post(source.endpoint, JSON.stringify(body));
  expect(await (await send({ type: "url_verification", challenge: "ch" })).json()).toEqual({ challenge: "ch" });
  for (const [id, channel] of [["a", "C1"], ["b", "C2"], ["c", "C1"]]) await send({ event: { client_msg_id: id, channel, text: `T ${id}`, event_ts: "1767225600.000200" } }); // prettier-ignore
  const found = await world.events(source, 2);
  expect(found).toMatchObject([
    { client_msg_id: "a", channel: "#C1", seen: 1 },
    { client_msg_id: "c", seen: 2 },
  ]);
  expect(service.calls()).toEqual(["POST /api/conversations.info"]);
  expect(await choices(source, "conversations", { chat })).toEqual([
    { label: "public_channel first", value: "c1" },
    { label: "public_channel c2", value: "c2" },
  ]);
});

it("rows: lists tables as options, emits the newest rows on deploy and newer rows later", async () => {
  await postgres.client.query(
    `create table "My Orders" (id int primary key, total numeric, at timestamptz); insert into "My Orders" values (1, 1.5, '2026-01-01Z'), (2, 2, null), (3, 3, null)`,
  );
  const rows = await world.account("rows", { connection: postgres.url });
  const source = await world.deployOf("rows", "sources/new-row.mjs", { rows, table: "My Orders" });
  await world.events(source, 2);
  await postgres.client.query(`insert into "My Orders" values (4, 4, '2026-01-02Z')`);
  for (let time = 0; time < 2; time++) await world.succeed({}, source);
  expect((await world.events(source, 3)).at(-1)).toEqual({ id: 4, total: "4", at: "2026-01-02T00:00:00.000Z" });
  expect(await choices(source, "table", { rows, schema: "public" })).toContain("My Orders");
  expect(await choices(source, "schema", { rows, rejectUnauthorized: true })).toContain("pg_catalog");
  const { status, text } = await world.createOf("rows", "sources/new-row.mjs", {
    rows: await world.account("rows", { connection: "postgresql://x:y@127.0.0.1:1/none" }),
    table: "t",
  });
  expect([status, text]).toEqual([422, expect.stringContaining("cannot connect") as string]);
});

it("notes: reads pages with an older SDK, ticks by cron in a time zone, and emits items later than the last one", async () => {
  const block = (n: number) => ({ id: `b${n}`, type: "paragraph", last_edited_time: `2026-01-0${n}T00:00:00Z` });
  const service = await world.serve({
    "GET /v1/blocks/*/children": ({ query: { start_cursor: cursor } }) => ({
      body: {
        object: "list",
        results: cursor === "2" ? [block(2)] : [block(1)],
        has_more: cursor !== "2",
        next_cursor: cursor === "2" ? null : "2",
      },
    }),
  });
  const notes = await world.account("notes", { base_url: service.url, oauth_access_token: "t" });
  const source = await world.deployOf("notes", "sources/page-updated.mjs", { notes, pageId: "p" });
  for (let time = 0; time < 2; time++) await world.succeed({}, source);
  expect((await world.events(source, 2)).map((event) => (event as { id: string }).id)).toEqual(["b1", "b2"]);
});

it("tables: returns options of the app, reads pages with an SDK, and starts each run with unchanged defaults", async () => {
  const record = (n: number) => ({ id: `rec${n}`, createdTime: `2026-01-0${n}T00:00:00.000Z`, fields: { n } });
  const service = await world.serve({
    "GET /v0/app1/tbl1": ({ query: { offset } }) => ({
      body: offset === "o" ? { records: [record(3)] } : { records: [record(1), record(2)], offset: "o" },
    }),
  });
  const tables = await world.account("tables", { base_url: service.url, api_key: "key" });
  const source = await world.deployOf("tables", "sources/new-records.mjs", { tables, baseId: "app1", tableId: "tbl1" });
  for (let time = 0; time < 2; time++) expect((await world.succeed({}, source)).result).toEqual({ length: 3 });
  expect((await world.events(source, 3)).map((event) => (event as { keys: number }).keys)).toEqual([1, 2, 3]);
  const formulas = service.asked.map(({ query }) => query["filterByFormula"]);
  expect([formulas[0], formulas.at(-1)]).toEqual([
    `CREATED_TIME() > "1970-01-01T00:00:00.000Z"`,
    `CREATED_TIME() > "2026-01-03T00:00:00.000Z"`,
  ]);
});

it("shop: follows next-page links, retries after a 503, checks a base64 digest, emits to a named channel, and ignores respond without a caller", async () => {
  let busy = 1;
  const service = await world.serve({
    "GET /orders.json": ({ query: { page, since_id: since } }) => {
      if (busy-- > 0) return { status: 503 };
      const headers = { link: `<${service.url}/orders.json?page=2>; rel="next"` };
      return page === "2" ? { body: [{ id: 3, created_at: null }] } : { headers, body: [{ id: Number(since ?? 1), test: true }] };
    },
  });
  const shop = await world.account("shop", { base_url: service.url, oauth_access_token: "t", secret: "s" });
  const source = await world.deployOf("shop", "sources/new-order.mjs", { shop });
  await world.succeed(null, source);
  const text = JSON.stringify({ id: 9, created_at: "2026-01-01T00:00:00Z" });
  const digest = createHmac("sha256", "s").update(text).digest("base64");
  for (const given of [digest, "wrong"])
    expect((await post(source.endpoint, text, { ...json, "x-shop-hmac-sha256": given })).status).toBe(200);
  await world.events(source, 3);
  expect((await world.stored(source)).map(({ metadata: { id, name } }) => [id, name]).sort()).toEqual([
    ["1", "test"],
    ["3", ""],
    ["9", ""],
  ]);
  await until(async () => (await world.logs(source)).includes("not ours"), "the forged request is logged");
  await world.succeed(null, source);
  expect(service.asked.find(({ query }) => query["since_id"] === "3")).toBeDefined();
});
