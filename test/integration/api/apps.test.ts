import { describe, expect, it } from "vitest";
import { acme, keys, withApi } from "./support.ts";

const api = withApi();

const oauth = {
  authorization_url: "https://acme.test/authorize",
  token_url: "https://acme.test/token",
  scopes: ["read"],
  test_url: "https://acme.test/me",
};
const own = { name_slug: "acme_crm", name: "Acme CRM", auth_type: "oauth", documentation_url: "https://acme.test/docs", oauth };

async function ask(method: string, path: string, body?: unknown, key: string = keys.ada) {
  return api.ask(method, path, { key, ...(body === undefined ? {} : { body }) });
}

describe("GET /v1/apps", () => {
  it("finds Slack with its OAuth addresses, by slug and by id", async () => {
    const { status, body } = await ask("GET", "/v1/apps/slack");
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      id: expect.stringMatching(/^app_/),
      name_slug: "slack",
      name: "Slack",
      auth_type: "oauth",
      custom_fields_json: "[]",
      documentation_url: "https://docs.slack.dev/authentication/installing-with-oauth",
      oauth: {
        authorization_url: "https://slack.com/oauth/v2/authorize",
        token_url: "https://slack.com/api/oauth.v2.access",
        scope_separator: ",",
      },
      origin: "built_in",
      connectable: true,
      has_client: false,
    });
    expect((await ask("GET", `/v1/apps/${body.data.id}`)).body.data).toEqual(body.data);
  });

  it("searches, filters and pages", async () => {
    const found = await ask("GET", "/v1/apps?q=google&limit=3");
    expect(found.body.data.map(({ name }: { name: string }) => name.startsWith("Google"))).toEqual([true, true, true]);
    const { end_cursor: cursor, total_count: total } = found.body.page_info;
    const next = await ask("GET", `/v1/apps?q=google&limit=100&after=${cursor}`);
    expect(next.body.data).toHaveLength(total - 3);
    const kinds = await ask("GET", "/v1/apps?kind=keys&limit=100");
    expect(kinds.body.data.every(({ auth_type: type }: { auth_type: string }) => type === "keys")).toBe(true);
    expect(
      JSON.parse(kinds.body.data.find(({ name_slug: slug }: { name_slug: string }) => slug === "aws").custom_fields_json),
    ).toHaveLength(2);
    expect((await ask("GET", "/v1/apps?kind=magic")).status).toBe(422);
  });

  it("suggests the nearest app for an unknown one", async () => {
    const { status, body } = await ask("GET", "/v1/apps/slac");
    expect([status, body.message ?? body.error]).toEqual([404, expect.stringContaining("did you mean slack")]);
  });
});

describe("an app of one's own", () => {
  it("is created, changed, listed for its owner only, and deleted", async () => {
    const created = await ask("POST", "/v1/apps", own);
    expect(created.status).toBe(200);
    expect(created.body.data).toMatchObject({ ...own, origin: "own", oauth: { ...oauth, pkce: true } });
    expect((await ask("POST", "/v1/apps", own)).body).toMatchObject({ code: "already_exists" });
    const changed = await ask("PUT", "/v1/apps/acme_crm", { name: "CRM", oauth: { scopes: null, pkce: false } });
    expect(changed.body.data).toMatchObject({ ...own, name: "CRM", oauth: { ...oauth, scopes: [], pkce: false } });
    const shortened = await ask("PUT", "/v1/apps/acme_crm", { documentation_url: null });
    expect(shortened.body.data).toEqual({ ...changed.body.data, documentation_url: null });
    expect((await ask("GET", "/v1/apps?q=crm")).body.data).toContainEqual(shortened.body.data);
    expect((await ask("GET", "/v1/apps/acme_crm", undefined, keys.bob)).status).toBe(404);
    expect((await ask("DELETE", "/v1/apps/acme_crm", undefined, keys.bob)).status).toBe(404);
    expect((await ask("DELETE", "/v1/apps/acme_crm")).status).toBe(204);
    expect((await ask("GET", "/v1/apps/acme_crm")).status).toBe(404);
  });

  it("belongs to the organization of org_id", async () => {
    expect((await ask("POST", `/v1/apps?org_id=${acme.id}`, { ...own, name_slug: "ours" })).status).toBe(200);
    expect((await ask("GET", `/v1/apps/ours?org_id=${acme.id}`)).body.data).toMatchObject({ origin: "own" });
    expect((await ask("GET", "/v1/apps/ours")).status).toBe(404);
  });

  it("replaces an app of the installation, which itself cannot be changed", async () => {
    const refused = await ask("PUT", "/v1/apps/gitlab", { name: "Ours" });
    expect([refused.status, refused.body.code]).toEqual([403, "forbidden"]);
    await ask("POST", "/v1/apps", { ...own, name_slug: "gitlab" });
    expect((await ask("GET", "/v1/apps/gitlab")).body.data).toMatchObject({ origin: "own", oauth: { token_url: oauth.token_url } });
    await ask("DELETE", "/v1/apps/gitlab");
    expect((await ask("GET", "/v1/apps/gitlab")).body.data).toMatchObject({ origin: "built_in" });
  });

  it.each([
    ["without an authorization endpoint", { ...own, oauth: { token_url: oauth.token_url } }],
    ["without a token endpoint", { ...own, oauth: { authorization_url: oauth.authorization_url } }],
    ["with another kind of address", { ...own, oauth: { ...oauth, token_url: "file:///etc/passwd" } }],
    ["with a page that is no web address", { ...own, documentation_url: "javascript:alert(1)" }],
    ["with a slug in capitals", { ...own, name_slug: "Acme" }],
    ["of keys without fields", { name_slug: "k", name: "K", auth_type: "keys" }],
    ["of an unknown type", { ...own, auth_type: "saml" }],
    ["with a scope that contains a space", { ...own, oauth: { ...oauth, scopes: ["a b"] } }],
  ])("is refused %s", async (_what, body) => {
    expect((await ask("POST", "/v1/apps", body)).status).toBe(422);
  });
});

describe("an OAuth client", () => {
  it("is created, changed and deleted, shows the redirect address, and never its secret", async () => {
    const secret = "client-secret-of-ada";
    const created = await ask("POST", "/v1/oauth_clients", {
      app: "slack",
      client_id: "c-1",
      client_secret: secret,
      scopes: ["chat:write"],
    });
    expect(created.status).toBe(200);
    expect(created.body.data).toMatchObject({
      id: expect.stringMatching(/^oac_/),
      app: "slack",
      client_id: "c-1",
      has_secret: true,
      scopes: ["chat:write"],
      redirect_uri: "https://headwater.test/oauth/callback",
    });
    const { id } = created.body.data;
    expect((await ask("GET", "/v1/apps/slack")).body.data).toMatchObject({ has_client: true });
    expect((await ask("GET", "/v1/apps/slack", undefined, keys.bob)).body.data).toMatchObject({ has_client: false });
    expect((await ask("POST", "/v1/oauth_clients", { app: "slack", client_id: "c-2" })).body).toMatchObject({ code: "already_exists" });
    const changed = await ask("PUT", `/v1/oauth_clients/${id}`, { client_id: "c-3", scopes: null });
    expect(changed.body.data).toMatchObject({ id, client_id: "c-3", scopes: null, has_secret: true });
    const listed = await ask("GET", "/v1/users/me/oauth_clients?app=slack");
    expect(listed.body.data.map(({ id: each }: { id: string }) => each)).toEqual([id]);
    for (const { text } of [created, changed, listed, await ask("GET", `/v1/oauth_clients/${id}`)]) expect(text).not.toContain(secret);
    expect((await ask("GET", `/v1/oauth_clients/${id}`, undefined, keys.bob)).status).toBe(404);
    expect((await ask("DELETE", `/v1/oauth_clients/${id}`)).status).toBe(204);
  });

  it("is refused for an app that has no OAuth, or that does not exist", async () => {
    const answers = [
      await ask("POST", "/v1/oauth_clients", { app: "stripe", client_id: "c" }),
      await ask("POST", "/v1/oauth_clients", { app: "nope", client_id: "c" }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([422, 404]);
  });
});
