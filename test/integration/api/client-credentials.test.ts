import { describe, expect, it } from "vitest";
import { accountKind, type AccountResource } from "../../../crds/account.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { registered, type Quirks } from "../../support/oauth-provider.ts";
import { withConnecting } from "./connect-support.ts";
import { ada, keys } from "./support.ts";

/** Accounts whose tokens are for a client itself (RFC 6749, section 4.4). */
const { api, provider, ask, addApp, operate, textOf } = withConnecting();
const minuteMs = 60_000;
const [id, secret] = [registered.clientId, registered.clientSecret];
const own = { client_id: id, client_secret: secret };
const service: Quirks = { clientScopes: ["read", "write"] };

const addDepot = (quirks: Quirks = service, oauth: object = {}) =>
  addApp(quirks, { grant: "client_credentials", authorization_url: null, test_url: null, ...oauth });
const create = async (app: string, client: unknown = own, key: string = keys.ada) =>
  ask("POST", "/v1/accounts", { app, client_credentials: client }, key);
async function created(app: string, client: object = own): Promise<string> {
  const { status, body } = await create(app, client);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.id;
}
const tokenOf = ({ status }: AccountResource) => textOf(status.oauth?.accessToken);
const readyOf = ({ status }: AccountResource) => status.conditions?.find(({ type }) => type === "Ready");
const clientOf = async (app: string) => (await ask("GET", `/v1/users/me/oauth_clients?app=${app}`)).body.data[0].id as string;

describe("an account of a client", () => {
  it.each([
    ["a client of its own", own],
    ["the OAuth client of the app", {}],
  ])("gets a token with %s, and the next one before it ends", async (_what, client) => {
    const slug = await addDepot(
      { ...service, audience: "https://depot.test/api", fields: { refresh_token: "ignored" } },
      {
        token_params: { audience: "https://depot.test/api" },
      },
    );
    const account = await created(slug, client);
    const first = await operate(account);
    expect(readyOf(first)).toMatchObject({ status: "True" });
    expect(tokenOf(first)).toMatch(/^access-/);
    expect(provider.tokenRequests.at(-1)).toMatchObject({ grant_type: "client_credentials", scope: "read write" });
    expect(first.status.oauth?.refreshToken).toBeUndefined();
    expect(tokenOf(await operate(account, 54 * minuteMs))).toBe(tokenOf(first));
    const renewed = await operate(account, 56 * minuteMs);
    expect(tokenOf(renewed)).not.toBe(tokenOf(first));
    expect(renewed.status.oauth?.refreshToken).toBeUndefined();
    const shown = await ask("GET", `/v1/accounts/${account}`);
    expect(shown.body.data).toMatchObject({ healthy: true, needs_reconnect: false, grant_type: "client_credentials" });
    expect(shown.text).not.toMatch(/access-\d|p@ss/);
  });

  it.each([
    ["scopes of the request", { ...own, scope: "read" }, "read"],
    ["scopes of the app, for its OAuth client", {}, "read write"],
  ])("requests %s", async (_what, client, scope) => {
    await operate(await created(await addDepot(), client));
    expect(provider.tokenRequests.at(-1)).toMatchObject({ scope });
  });

  it("needs another secret when the service does not know it, and keeps its id with the right one", async () => {
    const account = await created(await addDepot(), { ...own, client_secret: "wrong" });
    const refused = await operate(account);
    expect(refused.status.needsReconnect).toBe(true);
    expect(readyOf(refused)).toMatchObject({
      reason: "NeedsReconnect",
      message: expect.stringContaining("refused to issue an access token"),
    });
    expect(readyOf(refused)?.message).toContain("(invalid_client)");
    const corrected = await ask("PUT", `/v1/accounts/${account}`, { client_credentials: { client_secret: secret } });
    expect([corrected.status, corrected.body.data.id]).toEqual([200, account]);
    const after = await operate(account);
    expect([readyOf(after)?.status, after.status.needsReconnect]).toEqual(["True", undefined]);
    expect(after.spec.oauth).toMatchObject({ grant: "client_credentials", clientId: id, scope: "read write" });
  });

  it("is asked again later while the service is away, and has a problem while it refuses the scope", async () => {
    const account = await created(await addDepot(), { ...own, scope: "admin" });
    provider.instead = (_request, response) => void response.writeHead(503).end();
    expect(readyOf(await operate(account))).toMatchObject({
      reason: "TokenEndpointUnavailable",
      message: expect.stringContaining("requested"),
    });
    provider.instead = undefined;
    const refused = await operate(account, minuteMs);
    expect([readyOf(refused)?.reason, refused.status.needsReconnect]).toEqual(["TokenRefused", undefined]);
    expect(readyOf(refused)?.message).toContain("(invalid_scope)");
  });

  it("follows its OAuth client to another secret and another id, and ends with it", async () => {
    const slug = await addDepot();
    const account = await created(slug, {});
    await operate(account);
    const client = await clientOf(slug);
    await ask("PUT", `/v1/oauth_clients/${client}`, { client_secret: "wrong" });
    expect((await operate(account)).status.needsReconnect).toBe(true);
    await ask("PUT", `/v1/oauth_clients/${client}`, { client_secret: secret });
    expect(readyOf(await operate(account))).toMatchObject({ status: "True" });
    await ask("DELETE", `/v1/oauth_clients/${client}`);
    expect(readyOf(await operate(account))?.message).toContain("no longer exists");
    expect((await ask("POST", "/v1/oauth_clients", { app: slug, ...own })).status).toBe(200);
    expect((await ask("PUT", `/v1/accounts/${account}`, { client_credentials: {} })).status).toBe(200);
    expect(readyOf(await operate(account))).toMatchObject({ status: "True" });
  });

  it("sends no secret of another owner's client, nor of a client by which people sign in", async () => {
    const [depot, other] = [await addDepot(), await addApp(service)];
    const bobs = await ask("GET", "/v1/users/me/oauth_clients", undefined, keys.bob);
    expect(bobs.body.data).toEqual([]);
    const before = provider.tokenRequests.length;
    const oauth = { grant: "client_credentials" as const, tokenUrl: `${provider.origin}/token`, clientId: id };
    const named = { connectedAt: "2026-11-21T12:00:00Z" };
    const make = async (namespace: string, app: string, name: string) => {
      const connection = { client: await clientOf(app), ...named };
      await api.store.create(accountKind, {
        namespace,
        name,
        labels: { "headwater.dev/id": name.replace("-", "_") },
        spec: { app, credentials: {}, oauth, connection },
      });
      return operate(name.replace("-", "_"));
    };
    const foreign = await make(namespaceOfOwner("u_bob"), depot, "apn-foreign00001");
    const person = await make(namespaceOfOwner(ada.id), other, "apn-person000001");
    for (const account of [foreign, person]) expect(readyOf(account)).toMatchObject({ reason: "NeedsReconnect" });
    expect(readyOf(person)?.message).toContain("the grant of app");
    expect(provider.tokenRequests).toHaveLength(before);
  });

  it("refuses what is incomplete or ambiguous, with the field and the remedy", async () => {
    const [depot, signIn] = [await addDepot(), await addApp(service)];
    const cases: readonly [app: string, client: unknown, status: number, error: string][] = [
      [depot, { client_id: id }, 422, "client_credentials.client_secret is missing"],
      [depot, { client_secret: secret }, 422, "client_credentials.client_id is missing"],
      [depot, { ...own, client_secret: "" }, 422, "client_credentials.client_secret"],
      [depot, { token_url: "https://elsewhere.test/token" }, 422, "client_credentials.client_id is missing"],
      [depot, "hunter2", 422, "client_credentials"],
      [signIn, {}, 422, "does not have the grant client_credentials"],
      [signIn, own, 422, "client_credentials.token_url is missing"],
      ["no_such_app", own, 422, "client_credentials.token_url is missing"],
    ];
    for (const [app, client, status, error] of cases) {
      const answer = await create(app, client);
      expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(error)]);
      expect(answer.text).not.toContain("p@ss");
    }
    const both = { app: depot, client_credentials: own, oauth: { token_url: "https://a.test", client_id: "c", refresh_token: "r" } };
    expect((await ask("POST", "/v1/accounts", both)).body.error).toContain("exclude each other");
    const browser = await ask("POST", `/v1/apps/${depot}/connect`, {});
    expect([browser.status, browser.body.code]).toEqual([422, "app_not_connectable"]);
    await ask("DELETE", `/v1/oauth_clients/${await clientOf(depot)}`);
    expect((await create(depot, {})).body).toMatchObject({ code: "oauth_client_missing" });
    expect((await ask("GET", "/v1/apps?kind=oauth2&q=The%20Service")).body.data).toContainEqual(
      expect.objectContaining({ name_slug: depot, connectable: false, has_client: false }),
    );
  });

  it("sends a stored secret to no other address, and changes between the grants with all that they need", async () => {
    const account = await created(await addDepot());
    const put = (body: object) => ask("PUT", `/v1/accounts/${account}`, body);
    const elsewhere = { token_url: "https://elsewhere.test/token" };
    expect((await put({ client_credentials: elsewhere })).body).toMatchObject({ code: "secrets_missing" });
    expect((await put({ oauth: { scope: "read" } })).body.error).toContain("oauth is incomplete");
    const refresh = { token_url: `${provider.origin}/token`, client_id: id, client_secret: secret, refresh_token: "r" };
    expect((await put({ oauth: refresh })).body.data).toMatchObject({ grant_type: "refresh_token" });
    expect((await put({ client_credentials: own })).body.data).toMatchObject({ grant_type: "client_credentials" });
    expect((await put({ client_credentials: null })).body.data).toMatchObject({ grant_type: null });
    expect((await operate(account)).spec.oauth).toBeUndefined();
  });
});
