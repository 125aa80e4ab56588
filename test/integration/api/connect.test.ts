import { describe, expect, it } from "vitest";
import { accountKind } from "../../../crds/account.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { redirectUri, withConnecting } from "./connect-support.ts";
import { ada, keys } from "./support.ts";

const { api, provider, skew, ask, addApp, start, outcome, textOf, open, click } = withConnecting();

const stored = (id: string) => api.store.get(accountKind, namespaceOfOwner(ada.id), id.replace("_", "-"));

describe("connecting an account", () => {
  it("stores what the service gave, with its name and picture, and shows no secret", async () => {
    const slug = await addApp({ fields: { instance_url: "https://eu.service.test" } }, { token_fields: ["instance_url"] });
    const { connection_id: id, url } = await start(slug);
    expect(await outcome(id)).toMatchObject({ status: "pending", account_id: null, problem: null });
    const back = provider.signIn(url, redirectUri);
    const page = await open(back);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining("ada (ada@example.com)")]);
    expect(await outcome(id)).toMatchObject({ status: "pending" });
    const done = await click(back);
    expect([done.status, done.text]).toEqual([200, expect.stringContaining("The Service is connected")]);
    const result = await outcome(id);
    expect(result).toMatchObject({ status: "connected", account_id: expect.stringMatching(/^apn_/), missing_scopes: [], problem: null });
    const account = await ask("GET", `/v1/accounts/${result.account_id}`);
    expect(account.body.data).toMatchObject({
      name: "Ada at the service",
      needs_reconnect: false,
      connection: { name: "Ada at the service", picture: "https://service.test/ada.png", scopes: ["read", "write"] },
    });
    const { spec } = await stored(result.account_id);
    expect(textOf(spec.credentials["oauth_access_token"])).toMatch(/^access-/);
    expect(textOf(spec.credentials["instance_url"])).toBe("https://eu.service.test");
    expect(textOf(spec.oauth?.refreshToken)).toBe(provider.refreshToken);
    for (const { text } of [account, page, done]) expect(text).not.toMatch(/access-\d|refresh-\d|p@ss/);
  });

  it.each([
    ["commas between scopes", { scopeSeparator: "," }],
    ["the client's secret in the body", { clientAuthentication: "body" }],
    ["answers as forms", { answers: "form" }],
    ["no code challenge", { requiresPkce: false }],
    ["iss in redirects", { issuer: "https://issuer.service.test" }],
  ] as const)("works at a service with %s", async (_what, quirks) => {
    const { connection_id: id, url } = await start(await addApp(quirks), { name: "Mine" });
    await click(provider.signIn(url, redirectUri));
    const { status, account_id: account } = await outcome(id);
    expect(status).toBe("connected");
    expect((await stored(account)).spec).toMatchObject({ name: "Mine", connection: { scopes: ["read", "write"] } });
  });

  it("stores an account that cannot be refreshed when the service gives no refresh token", async () => {
    const { connection_id: id, url } = await start(await addApp({ hasRefreshToken: false }));
    await click(provider.signIn(url, redirectUri));
    const { spec } = await stored((await outcome(id)).account_id);
    expect(spec.oauth).toBeUndefined();
    expect(spec.connection).toBeDefined();
  });

  it("lists scopes that were not granted, on the page too", async () => {
    const { connection_id: id, url } = await start(await addApp({ withheld: ["write"] }));
    const page = await click(provider.signIn(url, redirectUri));
    expect(page.text).toContain("<code>write</code>");
    expect(await outcome(id)).toMatchObject({ status: "connected", missing_scopes: ["write"] });
  });

  it("connects an account again, keeps its id, its name and its further credentials", async () => {
    const slug = await addApp();
    const given = await ask("POST", "/v1/accounts", { app: slug, name: "Team", credentials: { region: "eu", oauth_access_token: "old" } });
    const { id } = given.body.data;
    const { body } = await ask("POST", `/v1/accounts/${id}/reconnect`, {});
    await click(provider.signIn(body.data.url, redirectUri));
    expect(await outcome(body.data.connection_id)).toMatchObject({ status: "connected", account_id: id });
    const { spec } = await stored(id);
    expect(spec).toMatchObject({ name: "Team", credentials: { region: expect.anything() } });
    expect(textOf(spec.credentials["oauth_access_token"])).toMatch(/^access-/);
    await ask("PUT", `/v1/accounts/${id}`, { name: "Renamed" });
    expect((await stored(id)).spec).toMatchObject({ name: "Renamed", connection: spec.connection });
  });

  it.each([
    ["another client", { client_id: "by-hand", refresh_token: "r" }],
    ["a secret", { client_secret: "by-hand" }],
    ["none", null],
  ])("forgets its OAuth client when it gets %s by hand", async (_, oauth) => {
    const { connection_id: id, url } = await start(await addApp());
    await click(provider.signIn(url, redirectUri));
    const account = (await outcome(id)).account_id;
    await ask("PUT", `/v1/accounts/${account}`, { oauth: { refresh_token: "another" } });
    expect((await stored(account)).spec.connection).toBeDefined();
    expect((await ask("PUT", `/v1/accounts/${account}`, { oauth })).body.data.connection).toBeNull();
    expect((await stored(account)).spec.connection).toBeUndefined();
  });

  it("revokes the refresh token when the account is deleted", async () => {
    const { connection_id: id, url } = await start(await addApp());
    await click(provider.signIn(url, redirectUri));
    const token = provider.refreshToken;
    expect((await ask("DELETE", `/v1/accounts/${(await outcome(id)).account_id}`)).status).toBe(204);
    expect(provider.revoked.at(-1)).toBe(`refresh_token ${token}`);
  });

  it("names the missing OAuth client and the redirect address, and refuses apps of other kinds", async () => {
    const missing = await ask("POST", "/v1/apps/github/connect", {});
    expect([missing.status, missing.body]).toEqual([422, expect.objectContaining({ code: "oauth_client_missing" })]);
    expect(missing.text).toContain(redirectUri);
    expect((await ask("POST", "/v1/apps/stripe/connect", {})).body).toMatchObject({ code: "app_not_connectable" });
  });

  it("belongs to the user who began it", async () => {
    const { connection_id: id } = await start(await addApp());
    expect((await ask("GET", `/v1/connections/${id}`, undefined, keys.bob)).status).toBe(404);
  });

  it("expires after ten minutes, and works with a clock that is an hour ahead", async () => {
    const slug = await addApp();
    const { connection_id: id, url } = await start(slug);
    skew.ms = 11 * 60_000; // The last test: a clock that went back would count requests of the future.
    const page = await click(provider.signIn(url, redirectUri));
    expect([page.status, page.text]).toEqual([400, expect.stringContaining("longer than 10 minutes")]);
    expect(await outcome(id)).toMatchObject({ status: "failed", problem: { code: "expired" } });
    skew.ms = 3_600_000;
    const ahead = await start(slug);
    await click(provider.signIn(ahead.url, redirectUri));
    expect(await outcome(ahead.connection_id)).toMatchObject({ status: "connected" });
  });
});
