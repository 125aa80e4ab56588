import { describe, expect, test } from "vitest";
import { createHash } from "node:crypto";
import { sql } from "kysely";
import { subscriptionKind } from "../../../crds/subscription.ts";
import { webhookKind } from "../../../crds/webhook.ts";
import { acme, ada, keys, withApi } from "./support.ts";

const api = withApi();
const data = async (method: string, path: string, body?: object) =>
  (await api.ask(method, path, body === undefined ? {} : { body })).body.data;
const newSource = (name: string, query = "") => data("POST", `/v1/sources${query}`, { component_code: `name: ${name}` });

describe("components", () => {
  test("are saved, and found by id and by key", async () => {
    const code = "name: Weather; key: weather-report; props: timer token http\n";
    const { status, body } = await api.ask("POST", "/v1/components", {
      body: { component_code: code, component_url: "https://x.test/w.mjs" },
    });
    expect(status).toBe(200);
    expect(body.data).toEqual({
      id: expect.stringMatching(/^sc_[0-9a-z]{12}$/),
      code,
      entry: null,
      files: [],
      origin: null,
      code_hash: createHash("sha256").update(code).digest("hex"),
      name: "Weather",
      version: "0.0.1",
      configurable_props: [
        { name: "timer", type: "$.interface.timer", default: { intervalSeconds: 60 } },
        { name: "token", type: "string", secret: true },
        { name: "http", type: "$.interface.http" },
      ],
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
    });
    for (const key of [body.data.id, "weather-report"]) expect((await api.ask("GET", `/v1/components/${key}`)).body).toEqual(body);
    expect((await data("POST", "/v1/components", { component_code: code })).id).toBe(body.data.id);
    expect((await api.ask("GET", "/v1/components/weather-report", { key: keys.bob })).status).toBe(404);
  });

  test.each([
    [{}, 422],
    [{ component_code: 1 }, 422],
    [{ component_code: "broken" }, 422],
    [{ component_url: "x" }, 422],
    [{ component_url: "https://x.test/none" }, 422],
  ])("created from %j are refused", async (body, status) => {
    expect((await api.ask("POST", "/v1/components", { body })).status).toBe(status);
  });

  test("of an organization are found by its members", async () => {
    await api.ask("POST", `/v1/components?org_id=${acme.id}`, { body: { component_code: "name: O; key: of-acme" } });
    expect((await data("GET", "/v1/components/of-acme")).name).toBe("O");
    expect((await api.ask("GET", "/v1/components/of-acme", { key: keys.bob })).status).toBe(404);
  });

  test("with a key that is not a valid label are found", async () => {
    const key = "a/key with ümlauts";
    await api.ask("POST", "/v1/components", { body: { component_code: `name: K; key: ${key}` } });
    expect((await data("GET", `/v1/components/${encodeURIComponent(key)}`)).name).toBe("K");
  });

  test("with the same key are found newest first", async () => {
    for (const version of [1, 2])
      await api.ask("POST", "/v1/components", { body: { component_code: `name: V${version}; key: versioned` } });
    expect((await data("GET", "/v1/components/versioned")).name).toBe("V2");
  });

  test("are not found in an empty registry", async () => {
    const { status, body } = await api.ask("GET", "/v1/components/registry/weather-report");
    expect([status, body.error]).toEqual([
      404,
      "record not found: the registry has no component 'weather-report': GET /v1/components/registry lists what it has",
    ]);
  });
});

describe("lists of sources", () => {
  test("have pages in both directions, newest first", async () => {
    const made: string[] = [];
    for (let n = 0; n < 5; n++) made.unshift((await newSource(`Page ${n}`, `?org_id=${acme.id}`)).id);
    const page = async (query: string) => (await api.ask("GET", `/v1/orgs/${acme.id}/sources?${query}`)).body;
    const ids = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id);
    const cursor = (id: string) => Buffer.from(id).toString("base64url");
    const first = await page("limit=2");
    expect(ids(first)).toEqual(made.slice(0, 2));
    expect(first.page_info).toEqual({
      total_count: 5,
      count: 2,
      start_cursor: cursor(made[0] ?? ""),
      end_cursor: cursor(made[1] ?? ""),
      excluded_count: 0,
    });
    const second = await page(`limit=2&after=${first.page_info.end_cursor}`);
    expect(ids(second)).toEqual(made.slice(2, 4));
    expect(ids(await page(`limit=2&after=${second.page_info.end_cursor}`))).toEqual(made.slice(4));
    expect(ids(await page(`limit=2&before=${second.page_info.start_cursor}`))).toEqual(made.slice(0, 2));
    expect(ids(await page("limit=500&after="))).toEqual(made);
    const past = await page(`after=${cursor(made[4] ?? "")}`);
    expect([past.data, past.page_info.count, past.page_info.end_cursor]).toEqual([[], 0, null]);
    expect(Object.keys((await page("include=id,name&limit=1")).data[0])).toEqual(["id", "name"]);
    expect(Object.keys((await page("limit=1")).data[0])).not.toContain("user_id");
  });

  test.each([
    "limit=0",
    "limit=-1",
    "limit=x",
    "limit=1.5",
    "limit=1&limit=2",
    "after=%00",
    "after=***",
    "after=ZGNfeA&before=ZGNfeA",
    "after=ZGNfbm9uZQ",
    "before[a]=1&before=2&before=3",
  ])("with %s are refused", async (query) => {
    for (const path of ["/v1/users/me/sources", "/v1/users/me/webhooks", "/v1/users/me/subscriptions", `/v1/orgs/${acme.id}/sources`]) {
      expect([path, (await api.ask("GET", `${path}?${query}`)).status]).toEqual([path, 422]);
    }
  });
});

describe("webhooks", () => {
  test("are created by query or body, show their signing key once, and are deleted", async () => {
    const { status, body } = await api.ask("POST", "/v1/webhooks?url=https%3A%2F%2Fx.test%3A8080%2Fhook%3Fa%3D1&name=From%20query", {
      body: { name: "from body", description: "d" },
    });
    expect(status).toBe(200);
    const { signing_key, user_id, ...webhook } = body.data;
    expect(webhook).toEqual({
      id: expect.stringMatching(/^wh_/),
      name: "From query",
      description: "d",
      url: "https://x.test:8080/hook?a=1",
      active: true,
      ordered: false,
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
      state: "active",
      problem: null,
      success_rate: null,
      circuit_open_until: null,
    });
    expect(user_id).toBe(ada.id);
    expect(signing_key).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const list = (await api.ask("GET", "/v1/users/me/webhooks")).body;
    expect(list.data).toEqual([webhook]);
    expect(list.page_info.total_count).toBe(1);
    expect((await api.store.findById(webhookKind, webhook.id))?.spec.signingKeys).toEqual([
      { sealed: `sealed(${Buffer.from(signing_key).toString("base64url")})` },
    ]);

    const removed = await api.ask("DELETE", `/v1/webhooks/${webhook.id}`);
    expect([removed.status, removed.text]).toEqual([204, ""]);
    expect((await api.ask("DELETE", `/v1/webhooks/${webhook.id}`)).status).toBe(404);
  });

  test("without name and description have null for both", async () => {
    expect(await data("POST", "/v1/webhooks?url=http://x.test")).toMatchObject({
      name: null,
      description: null,
      url: "http://x.test",
    });
  });

  test.each([
    "",
    "x.test",
    "//x.test",
    "ftp://x.test",
    "http://",
    "https:///path",
    "http:x.test",
    "javascript:alert(1)",
    "http://a b/",
    "https://[::1",
    `https://x.test/${"x".repeat(3_000)}`,
    " https://x.test",
  ])("to '%s' are refused", async (url) => {
    for (const answer of [
      await api.ask("POST", `/v1/webhooks?url=${encodeURIComponent(url)}`),
      await api.ask("POST", "/v1/webhooks", { body: { url } }),
    ]) {
      expect([answer.status, answer.body.error]).toEqual([422, expect.stringContaining("url")]);
    }
  });

  test.each([{}, { url: 7 }, { url: null }, { url: "https://x.test", name: 7 }, { url: "https://x.test", description: "x".repeat(3_000) }])(
    "made of %j are refused",
    async (body) => {
      expect((await api.ask("POST", "/v1/webhooks", { body })).status).toBe(422);
    },
  );

  test("of an organization are visible to its members", async () => {
    const webhook = await data("POST", `/v1/webhooks?org_id=${acme.id}&url=https://x.test`);
    expect((await data("GET", `/v1/orgs/${acme.id}/webhooks`)).map(({ id }: { id: string }) => id)).toEqual([webhook.id]);
    expect((await api.ask("POST", "/v1/webhooks?org_id=o_others&url=https://x.test")).status).toBe(403);
    expect((await api.ask("POST", "/v1/webhooks?org_id=o_unknown&url=https://x.test")).status).toBe(404);
  });
});

describe("subscriptions", () => {
  const subscribe = (emitter: string, listener: string, rest = "") =>
    api.ask("POST", `/v1/subscriptions?emitter_id=${emitter}&listener_id=${listener}${rest}`);

  test("are created, listed and deleted, and equal requests create one", async () => {
    const [source, webhook] = [await newSource("Emitter"), await data("POST", "/v1/webhooks?url=https://x.test")];
    const { status, body } = await subscribe(source.id, webhook.id);
    expect(status).toBe(200);
    expect(body).toEqual({
      data: {
        id: expect.stringMatching(/^sub_[0-9a-z]{12}$/),
        emitter_id: source.id,
        listener_id: webhook.id,
        event_name: "",
      },
    });
    const again = await Promise.all([
      subscribe(source.id, webhook.id, "&event_name="),
      api.ask("POST", "/v1/subscriptions", {
        body: { emitter_id: source.id, listener_id: webhook.id, event_name: null },
      }),
    ]);
    expect(again.map((answer) => [answer.status, answer.body.data.id])).toEqual([
      [200, body.data.id],
      [200, body.data.id],
    ]);
    const errors = (await subscribe(source.id, webhook.id, "&event_name=$errors")).body.data;
    expect(errors.event_name).toBe("$errors");

    const list = (await api.ask("GET", "/v1/users/me/subscriptions")).body;
    expect(list.data).toEqual([errors, body.data]);

    const query = `emitter_id=${source.id}&listener_id=${webhook.id}`;
    expect((await api.ask("DELETE", `/v1/subscriptions?${query}&event_name=`)).status).toBe(200);
    expect((await api.ask("DELETE", `/v1/subscriptions?${query}`)).status).toBe(404);
    expect((await data("GET", "/v1/users/me/subscriptions")).map(({ id }: { id: string }) => id)).toEqual([errors.id]);
    // Made again at once, it is there again.
    expect((await subscribe(source.id, webhook.id)).body.data.id).toBe(body.data.id);
  });

  test("of a webhook are deleted with it", async () => {
    const webhook = await data("POST", `/v1/webhooks?url=https://x.test&org_id=${acme.id}`);
    const { id } = (await subscribe("dc_*", webhook.id)).body.data;
    const shared = (await subscribe("p_*", webhook.id, `&org_id=${acme.id}`)).body.data;
    expect((await data("GET", `/v1/orgs/${acme.id}/subscriptions`)).map((each: { id: string }) => each.id)).toEqual([shared.id]);
    expect((await api.ask("DELETE", `/v1/webhooks/${webhook.id}`)).status).toBe(204);
    const { items } = await api.store.list(subscriptionKind, {});
    expect(items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ status }) => status.id)).not.toEqual(
      expect.arrayContaining([id]),
    );
  });

  test("are in effect when the response is sent", async () => {
    const [one, other] = [await newSource("One"), await newSource("Other")];
    const { id } = (await subscribe(one.id, other.id)).body.data;
    expect((await api.store.findById(subscriptionKind, id))?.status.conditions?.[0]).toMatchObject({
      type: "Ready",
      status: "True",
    });
  });

  test("accept globs and the organization of the caller as emitters", async () => {
    const webhook = await data("POST", "/v1/webhooks?url=https://x.test");
    for (const emitter of ["dc_*", "p_*", acme.id]) expect((await subscribe(emitter, webhook.id)).status).toBe(200);
  });

  test("of an organization connect only its own resources", async () => {
    const query = `&org_id=${acme.id}`;
    const [mine, theirs] = [await newSource("Mine"), await newSource("Theirs", `?org_id=${acme.id}`)];
    const [hook, theirHook] = [
      await data("POST", "/v1/webhooks?url=https://x.test"),
      await data("POST", `/v1/webhooks?url=https://x.test${query}`),
    ];
    expect((await subscribe(theirs.id, theirHook.id, query)).status).toBe(200);
    expect((await subscribe(mine.id, theirHook.id, query)).status).toBe(403);
    expect((await subscribe(theirs.id, hook.id, query)).status).toBe(403);
    // In their own name members connect both.
    expect((await subscribe(mine.id, theirHook.id)).status).toBe(200);
    expect((await subscribe(theirs.id, hook.id)).status).toBe(200);
  });

  test("with unknown, foreign or invalid ends are refused", async () => {
    const [mine, hook] = [await newSource("Mine"), await data("POST", "/v1/webhooks?url=https://x.test")];
    const bobs = (await api.ask("POST", "/v1/sources", { key: keys.bob, body: { component_code: "name: Bobs" } })).body.data;
    const bobsHook = (await api.ask("POST", "/v1/webhooks?url=https://x.test", { key: keys.bob })).body.data;
    const cases: readonly [string, string, number][] = [
      [bobs.id, hook.id, 404],
      [mine.id, bobsHook.id, 404],
      [mine.id, bobs.id, 404],
      ["dc_none", hook.id, 404],
      [mine.id, "wh_none", 404],
      [mine.id, "p_workflow", 404],
      ["p_workflow", hook.id, 404],
      ["o_others", hook.id, 403],
      ["o_none", hook.id, 404],
      [mine.id, mine.id, 422],
      ["", hook.id, 422],
      [mine.id, "", 422],
      ["dc_%25", hook.id, 422],
      ["*", hook.id, 422],
      [mine.id, "dc_*", 422],
      [hook.id, mine.id, 422],
      [mine.id, acme.id, 422],
      ["x".repeat(100), hook.id, 422],
      ["%00", hook.id, 422],
    ];
    for (const [emitter, listener, status] of cases) {
      const answer = await subscribe(emitter, listener);
      expect([emitter, listener, answer.status]).toEqual([emitter, listener, status]);
    }
    expect((await subscribe(mine.id, "p_workflow")).body.error).toContain("p_workflow");
    expect((await subscribe(mine.id, hook.id, `&event_name=${"x".repeat(300)}`)).status).toBe(422);
    expect((await subscribe(mine.id, hook.id, "&event_name=%00")).status).toBe(422);
    expect((await api.ask("POST", "/v1/subscriptions", { body: {} })).status).toBe(422);
    expect((await api.ask("DELETE", "/v1/subscriptions")).status).toBe(422);
  });
});

describe("a stored resource that violates its schema", () => {
  test("is shown as far as possible, and hides no others", async () => {
    const source = await newSource("Odd");
    const component = await data("POST", "/v1/components", { component_code: "name: Odd" });
    const webhook = await data("POST", "/v1/webhooks?url=https://x.test");
    await api.ask("POST", `/v1/subscriptions?emitter_id=${source.id}&listener_id=${webhook.id}`);
    for (const spec of ["{}", '{"name": 7, "props": "none", "code": [], "url": {}, "emitter": 7, "listener": null}'])
      for (const status of [undefined, "{}"]) {
        await sql`update resources set spec = ${spec}::json where public_id in (${source.id}, ${component.id}, ${webhook.id}) or kind = 'Subscription'`.execute(
          api.database.db,
        );
        if (status !== undefined)
          await sql`update resources set status = ${status}::json where public_id in (${source.id}, ${component.id}, ${webhook.id})`.execute(
            api.database.db,
          );
        const reads = [`/v1/sources/${source.id}`, `/v1/components/${component.id}`];
        const lists = ["sources", "webhooks", "subscriptions"].map((plural) => `/v1/users/me/${plural}`);
        for (const path of [...reads, ...lists]) expect([path, (await api.ask("GET", path)).status]).toEqual([path, 200]);
        const listed = await data("GET", "/v1/users/me/sources");
        expect(listed.map(({ id }: { id: string }) => id)).toContain(source.id);
      }
  });
});
