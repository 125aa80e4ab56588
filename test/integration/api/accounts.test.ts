import { describe, expect, it } from "vitest";
import { accountKind } from "../../../crds/account.ts";
import { labels } from "../../../crds/resource.ts";
import { sourceKind } from "../../../crds/source.ts";
import { workflowKind } from "../../../crds/workflow.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { acme, ada, keys, withApi } from "./support.ts";

const kept: Readonly<Record<string, string>>[] = [];
const api = withApi(
  {},
  {
    secretValues: {
      keep: async (_holder, texts) => {
        kept.push(texts);
        return Object.fromEntries(
          Object.entries(texts).map(([name, text]) => [name, { sealed: `sealed(${Buffer.from(text).toString("base64")})` }]),
        );
      },
    },
  },
);

const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const secrets = ["token-of-ada", "client-secret-of-ada", "refresh-of-ada"];
const oauth = {
  token_url: "https://shop.test/token",
  client_id: "c",
  client_secret: secrets[1],
  refresh_token: secrets[2],
  expires_at: 1_800_000_000,
};
const answers: string[] = [];

async function ask(method: string, path: string, body?: unknown, key: string = keys.ada) {
  const answer = await api.ask(method, path, { key, ...(body === undefined ? {} : { body }) });
  answers.push(answer.text);
  return answer;
}

const create = async (body: object = {}) => {
  const answer = await ask("POST", "/v1/accounts", { app: "shop", name: "Mine", credentials: { token: secrets[0] }, ...body });
  expect(answer.status).toBe(200);
  return answer.body.data;
};

const stored = (id: string, owner = ada.id) => api.store.get(accountKind, namespaceOfOwner(owner), id.replace("_", "-"));

describe("accounts", () => {
  it("are created, read, changed and deleted without showing credentials", async () => {
    const account = await create({ oauth });
    expect(account).toEqual({
      id: expect.stringMatching(/^apn_/),
      grant_type: "refresh_token",
      app: { id: expect.stringMatching(/^app_[0-9a-z]{12}$/), name_slug: "shop", name: "Shop" },
      name: "Mine",
      healthy: null,
      problem: null,
      needs_reconnect: false,
      connection: null,
      refreshed_at: null,
      created_at: expect.stringMatching(isoTime),
      updated_at: account.created_at,
    });
    expect((await stored(account.id)).spec).toMatchObject({
      app: "shop",
      credentials: { token: { sealed: expect.any(String) } },
      oauth: { tokenUrl: oauth.token_url, clientId: "c", expiresAt: "2027-01-15T08:00:00.000Z" },
    });
    expect((await ask("GET", `/v1/accounts/${account.id}`)).body.data).toEqual(account);
    const changed = await ask("PUT", `/v1/accounts/${account.id}`, { name: "Ours" });
    expect(changed.body.data).toMatchObject({ id: account.id, name: "Ours", app: account.app });
    expect((await ask("DELETE", `/v1/accounts/${account.id}`)).status).toBe(204);
    expect((await ask("GET", `/v1/accounts/${account.id}`)).status).toBe(404);
    expect((await ask("DELETE", `/v1/accounts/${account.id}`)).status).toBe(404);
    expect(kept.at(0)).toEqual({ "credential.token": secrets[0], "oauth.client_secret": secrets[1], "oauth.refresh_token": secrets[2] });
  });

  it("accept app as a slug or an object, and return an object", async () => {
    const [bySlug, byObject] = [await create({ app: "google_sheets" }), await create({ app: { id: "x", name_slug: "google_sheets" } })];
    expect(bySlug.app).toEqual({ id: expect.stringMatching(/^app_/), name_slug: "google_sheets", name: "Google Sheets" });
    expect(byObject.app).toEqual(bySlug.app);
    expect((await ask("GET", "/v1/accounts?app=google_sheets")).body.data.map(({ id }: { id: string }) => id)).toEqual([
      byObject.id,
      bySlug.id,
    ]);
  });

  it("get the name of their app by default, and can have no credentials", async () => {
    const account = await create({ name: null, credentials: null });
    expect(account.name).toBe("shop");
    expect((await stored(account.id)).spec).toEqual({ app: "shop", name: "shop", credentials: {} });
  });

  it("keep absent fields on a change, and remove fields given as null", async () => {
    const { id } = await create({ credentials: { token: secrets[0], other: "x" }, oauth });
    const before = (await stored(id)).spec;
    await ask("PUT", `/v1/accounts/${id}`, { credentials: { third: "y" }, oauth: { scope: "read", client_secret: null } });
    const { spec } = await stored(id);
    expect(Object.keys(spec.credentials).toSorted()).toEqual(["other", "third", "token"]);
    expect(spec.credentials["token"]).toEqual(before.credentials["token"]);
    const { clientSecret: _, ...rest } = before.oauth ?? {};
    expect(spec.oauth).toEqual({ ...rest, scope: "read" });
    await ask("PUT", `/v1/accounts/${id}`, { credentials: { other: null }, oauth: null });
    expect(Object.keys((await stored(id)).spec.credentials)).toEqual(expect.not.arrayContaining(["other"]));
    expect((await stored(id)).spec.oauth).toBeUndefined();
    const incomplete = await ask("PUT", `/v1/accounts/${id}`, { oauth: { scope: "read" } });
    expect(incomplete.status).toBe(422);
    expect(incomplete.body.error).toContain("refresh_token");
  });

  it("apply all concurrent changes", async () => {
    const { id } = await create();
    const all = await Promise.all(
      Array.from({ length: 5 }, (_, n) => ask("PUT", `/v1/accounts/${id}`, { credentials: { [`f${n}`]: "x" } })),
    );
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(Object.keys((await stored(id)).spec.credentials).toSorted()).toEqual(["f0", "f1", "f2", "f3", "f4", "token"]);
  });

  it.each([
    [{}, "app"],
    [{ app: "" }, "app"],
    [{ app: "GitHub" }, "app"],
    [{ app: { name: "github" } }, "app"],
    [{ app: { name_slug: "GitHub" } }, "app"],
    [{ app: "shop", name: "" }, "name"],
    [{ app: "shop", name: "x".repeat(256) }, "name"],
    [{ app: "shop", credentials: "token-of-ada" }, "credentials"],
    [{ app: "shop", credentials: { token: 5 } }, "credentials.token"],
    [{ app: "shop", credentials: { token: { secret: "token-of-ada" } } }, "credentials.token"],
    [{ app: "shop", credentials: { token: null } }, "credentials.token"],
    [{ app: "shop", credentials: { token: `token-of-ada${"x".repeat(65_536)}` } }, "credentials.token"],
    [{ app: "shop", credentials: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`f${n}`, "x"])) }, "at most 50"],
    [{ app: "shop", credentials: { token: "é".repeat(32_769) } }, "credentials.token"],
    [
      { app: "shop", credentials: Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`f${n}`, "x".repeat(60_000)])) },
      "262144 bytes together",
    ],
    [{ app: "shop", oauth: { ...oauth, refresh_token: undefined } }, "oauth.refresh_token"],
    [{ app: "shop", oauth: { ...oauth, token_url: "shop.test" } }, "oauth.token_url"],
    [{ app: "shop", oauth: { ...oauth, expires_at: 1_800_000_000_000 } }, "epoch seconds"],
    [{ app: "shop", oauth: { ...oauth, client_authentication: "header" } }, "basic or body"],
  ])("are refused as %j", async (body, named) => {
    const answer = await ask("POST", "/v1/accounts", body);
    expect(answer.status).toBe(422);
    expect(answer.body.error).toContain(named);
  });

  it("return 400 for a body that is not JSON, without quoting it", async () => {
    const answer = await api.ask("POST", "/v1/accounts", {
      raw: '{"app":"shop","credentials":{"token":"token-of-ada',
      headers: { "content-type": "application/json" },
    });
    answers.push(answer.text);
    expect(answer.status).toBe(400);
  });

  it("are listed newest first, in pages, filtered by app, only for their owner", async () => {
    const [first, second] = [await create({ app: "calendar" }), await create({ app: "calendar" })];
    const page = await ask("GET", "/v1/accounts?app=calendar&limit=1");
    expect(page.body).toMatchObject({ page_info: { total_count: 2, count: 1 }, data: [{ id: second.id }] });
    const next = await ask("GET", `/v1/accounts?app=calendar&limit=1&after=${page.body.page_info.end_cursor}`);
    expect(next.body.data).toMatchObject([{ id: first.id }]);
    expect((await ask("GET", "/v1/accounts?app=no_such")).body).toMatchObject({ page_info: { total_count: 0 }, data: [] });
    expect((await ask("GET", "/v1/accounts?app=calendar", undefined, keys.bob)).body.data).toEqual([]);
    const ids = (await ask("GET", "/v1/accounts?limit=100")).body.data.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(expect.arrayContaining([first.id, second.id]));
  });

  it("return 404 for other users", async () => {
    const { id } = await create();
    for (const [method, body] of [["GET"], ["PUT", { name: "His" }], ["DELETE"]] as const)
      expect((await ask(method, `/v1/accounts/${id}`, body, keys.bob)).status).toBe(404);
    expect((await stored(id)).spec.name).toBe("Mine");
  });

  it("belong to the organization in org_id and are visible to its members", async () => {
    const answer = await ask("POST", `/v1/accounts?workspace_id=${acme.id}`, { app: "shop", credentials: {} });
    expect(answer.status).toBe(200);
    expect((await stored(answer.body.data.id, acme.id)).spec.app).toBe("shop");
    expect((await ask("GET", `/v1/accounts?org_id=${acme.id}`)).body.data).toHaveLength(1);
    expect((await ask("GET", `/v1/accounts?org_id=${acme.id}`, undefined, keys.bob)).status).toBe(403);
  });

  it("report why they are unhealthy", async () => {
    const { id } = await create();
    const account = await stored(id);
    const ready = {
      type: "Ready",
      status: "False",
      reason: "TokenRefused",
      message: "invalid_grant",
      lastTransitionTime: "2026-11-21T12:00:00Z",
      observedGeneration: 1,
    } as const;
    await api.store.updateStatus(accountKind, { ...account, status: { id, conditions: [ready] } });
    expect((await ask("GET", `/v1/accounts/${id}`)).body.data).toMatchObject({ healthy: false, problem: "invalid_grant" });
  });

  it("never return secrets in responses or log them", () => {
    for (const secret of secrets) {
      expect(answers.join("\n")).not.toContain(secret);
      expect(JSON.stringify(api.log)).not.toContain(secret);
    }
  });
});

describe("a source with an app prop", () => {
  const source = (configured_props: object, component_code = "name: uses shop; props: shop") =>
    ask("POST", "/v1/sources", { component_code, configured_props });

  it("accepts an account of its owner and the prop's app, as an object or an id", async () => {
    const { id } = await create();
    for (const shop of [{ authProvisionId: id }, id]) {
      const answer = await source({ shop });
      expect(answer.status).toBe(200);
      expect(answer.body.data.configured_props).toMatchObject({ shop: { authProvisionId: id } });
    }
  });

  it("names the prop, the account and both apps if the account is of another app", async () => {
    const { id } = await create({ app: "slack" });
    const answer = await source({ shop: id });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ code: "invalid_props", details: [{ prop: "shop" }] });
    for (const each of ["'shop'", id, "'slack'"]) expect(answer.body.error).toContain(each);
  });

  it("reports missing accounts and accounts of others alike", async () => {
    const bobs = await ask("POST", "/v1/accounts", { app: "shop", credentials: {} }, keys.bob);
    const [none, others] = [await source({ shop: "apn_none" }), await source({ shop: bobs.body.data.id })];
    for (const answer of [none, others]) expect(answer.status).toBe(422);
    expect(others.body.error.replaceAll(bobs.body.data.id, "apn_none")).toBe(none.body.error);
  });

  it("finds the using source behind a hundred that only mention the account", async () => {
    const { id } = await create();
    const user = (await source({ shop: id })).body.data.id;
    const namespace = namespaceOfOwner(ada.id);
    const mentions = Array.from({ length: 101 }, (_, n) => {
      const spec = sourceKind.spec.parse({ code: "export default {}", name: `beside ${id}` });
      return api.store.create(sourceKind, { namespace, name: `mentions-${n}`, spec });
    });
    await Promise.all(mentions);
    const refused = await ask("DELETE", `/v1/accounts/${id}`);
    expect([refused.status, refused.body.details]).toEqual([409, { sources: [user], workflows: [] }]);
    for (let n = 0; n < mentions.length; n++) await api.store.delete(sourceKind, namespace, `mentions-${n}`);
  });

  it("checks accounts on PUT, and prevents their deletion unless forced", async () => {
    const [used, other] = [await create(), await create()];
    const made = await source({ shop: used.id });
    const { id } = made.body.data;
    expect((await ask("PUT", `/v1/sources/${id}`, { configured_props: { shop: "apn_none" } })).status).toBe(422);
    const refused = await ask("DELETE", `/v1/accounts/${used.id}`);
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({ code: "account_in_use", details: { sources: [id] } });
    expect((await ask("GET", `/v1/accounts/${used.id}/uses`)).body.data).toEqual([{ kind: "source", id, name: made.body.data.name }]);
    expect((await ask("GET", `/v1/accounts/${other.id}/uses`)).body.data).toEqual([]);
    expect((await ask("GET", `/v1/accounts/${used.id}/uses`, undefined, keys.bob)).status).toBe(404);
    expect((await ask("DELETE", `/v1/accounts/${other.id}`)).status).toBe(204);
    expect((await ask("DELETE", `/v1/accounts/${used.id}?force=maybe`)).status).toBe(422);
    expect((await ask("DELETE", `/v1/accounts/${used.id}?force=true`)).status).toBe(204);
  });

  it("prevents the deletion of an account that a step of a workflow uses", async () => {
    const { id } = await create();
    const spec = { steps: [{ name: "a", code: "export default {}", props: { shop: { authProvisionId: id } } }] };
    await api.store.create(workflowKind, {
      namespace: namespaceOfOwner(ada.id),
      name: "uses-account",
      labels: { [labels.id]: "p_uses" },
      spec: workflowKind.spec.parse(spec),
    });
    const refused = await ask("DELETE", `/v1/accounts/${id}`);
    expect([refused.status, refused.body.details]).toEqual([409, { sources: [], workflows: ["p_uses"] }]);
    const uses = await ask("GET", `/v1/accounts/${id}/uses`);
    expect(uses.body.data).toEqual([{ kind: "workflow", id: "p_uses", name: "uses-account" }]);
    expect((await ask("DELETE", `/v1/accounts/${id}?force=true`)).status).toBe(204);
  });
});
