import { describe, expect, it } from "vitest";
import type { Quirks } from "../../support/oauth-provider.ts";
import { redirectUri, withConnecting } from "./connect-support.ts";

const { provider, ask, addApp, start, outcome, operate, textOf, click } = withConnecting();

/** How an app says what its service does otherwise. */
interface Service {
  readonly name: string;
  readonly quirks: Quirks;
  readonly oauth: object;
  /** Credentials besides the token. */
  readonly credentials?: Readonly<Record<string, string>>;
  readonly refusedCode: string;
  readonly refusedRefresh: string;
}

const services: readonly Service[] = [
  {
    name: "Slack: scopes with commas, refusals with the status 200, the token of the user nested in responses to codes",
    quirks: {
      scopeParameter: "user_scope",
      scopeSeparator: ",",
      refusals: "ok",
      codeError: "invalid_code",
      refreshError: "invalid_refresh_token",
      nested: "authed_user",
      rotates: true,
      requiresPkce: false,
      fields: { team: { id: "T1" } },
    },
    oauth: {
      scope_parameter: "user_scope",
      token_path: "authed_user",
      void_grant_errors: ["invalid_refresh_token"],
      token_fields: ["team.id"],
    },
    credentials: { team_id: "T1" },
    refusedCode: "it returned the error invalid_code",
    refusedRefresh: "it returned the error invalid_refresh_token",
  },
  {
    name: "GitHub: forms unless JSON is accepted, refusals with the status 200",
    quirks: {
      clientAuthentication: "body",
      answers: "negotiated",
      refusals: "error",
      codeError: "bad_verification_code",
      refreshError: "bad_refresh_token",
      rotates: true,
    },
    oauth: { void_grant_errors: ["bad_refresh_token"] },
    refusedCode: "it returned the error bad_verification_code",
    refusedRefresh: "it returned the error bad_refresh_token",
  },
  {
    name: "Google: a refresh token with access_type=offline and prompt=consent alone, and none in responses to refreshes",
    quirks: { clientAuthentication: "body", refreshesOffline: true, expiresIn: 3_599 },
    oauth: { authorization_params: { access_type: "offline", prompt: "consent" } },
    refusedCode: "(invalid_grant)",
    refusedRefresh: "(invalid_grant)",
  },
  {
    name: "Atlassian and Xero: each refresh replaces the refresh token, and reuse voids the one that replaced it",
    quirks: { rotates: true, detectsReuse: true, expiresIn: 1_800 },
    oauth: {},
    refusedCode: "(invalid_grant)",
    refusedRefresh: "(invalid_grant)",
  },
  {
    name: "Notion: JSON requests, Basic authentication without decoding, further fields that become credentials",
    quirks: {
      clientAuthentication: "raw",
      requests: "json",
      requiresPkce: false,
      rotates: true,
      expiresIn: "3600",
      fields: { workspace_id: "9d3b-1", duplicated_template_id: null, owner: { type: "user", user: { id: 42 } } },
    },
    oauth: { request_format: "json", token_fields: ["workspace_id", "owner.user.id", "duplicated_template_id", "absent"] },
    credentials: { workspace_id: "9d3b-1", owner_user_id: "42" },
    refusedCode: "(invalid_grant)",
    refusedRefresh: "(invalid_grant)",
  },
  {
    name: "Zoho: scopes with semicolons, refusals with the status 200, a lifetime as a text",
    quirks: {
      clientAuthentication: "body",
      scopeSeparator: ";",
      refusals: "error",
      codeError: "invalid_code",
      refreshError: "invalid_code",
      expiresIn: "3600",
      fields: { api_domain: "https://www.service.test" },
    },
    oauth: { scope_separator: ";", void_grant_errors: ["invalid_code"], token_fields: ["api_domain"] },
    credentials: { api_domain: "https://www.service.test" },
    refusedCode: "it returned the error invalid_code",
    refusedRefresh: "it returned the error invalid_code",
  },
];

const hourMs = 3_600_000;

describe("a service that works otherwise", () => {
  it.each(services)("connects, refreshes, and is connected again: $name", async ({ quirks, oauth, ...expected }) => {
    const slug = await addApp(quirks, oauth);
    const refused = await start(slug);
    const back = provider.signIn(refused.url, redirectUri);
    back.searchParams.set("code", "another");
    await click(back);
    expect(await outcome(refused.connection_id)).toMatchObject({
      status: "failed",
      problem: { code: "token_refused", message: expect.stringContaining(expected.refusedCode) },
    });

    const { connection_id: connection, url } = await start(slug);
    await click(provider.signIn(url, redirectUri));
    const { account_id: id, missing_scopes: missing } = await outcome(connection);
    expect(missing).toEqual([]);
    const connected = await operate(id);
    expect(connected.spec.connection).toMatchObject({ name: "Ada at the service", scopes: ["read", "write"] });
    const { oauth_access_token: token, ...others } = connected.spec.credentials;
    expect(textOf(token)).toMatch(/^access-/);
    expect(Object.fromEntries(Object.entries(others).map(([name, each]) => [name, textOf(each)]))).toEqual(expected.credentials ?? {});

    const first = provider.refreshToken;
    const refreshed = await operate(id, hourMs);
    expect(textOf(refreshed.status.oauth?.accessToken)).toMatch(/^access-/);
    expect(textOf(refreshed.status.oauth?.accessToken)).not.toBe(textOf(token));
    expect(provider.refreshToken === first).toBe(quirks.rotates !== true);
    const again = await operate(id, 2 * hourMs);
    expect(textOf(again.status.oauth?.accessToken)).not.toBe(textOf(refreshed.status.oauth?.accessToken));
    expect(again.status.needsReconnect).toBeUndefined();

    if (quirks.detectsReuse === true) await stealAt(first);
    else provider.withdraw();
    const over = await operate(id, 3 * hourMs);
    expect(over.status.needsReconnect).toBe(true);
    expect(over.status.conditions?.find(({ type }) => type === "Ready")?.message).toContain(expected.refusedRefresh);

    const { body } = await ask("POST", `/v1/accounts/${id}/reconnect`, {});
    await click(provider.signIn(body.data.url, redirectUri));
    expect(await outcome(body.data.connection_id)).toMatchObject({ status: "connected", account_id: id });
    const reconnected = await operate(id, 3 * hourMs);
    expect(reconnected.status.needsReconnect).toBeUndefined();
    expect(textOf(reconnected.status.oauth?.accessToken)).toMatch(/^access-/);
  });

  /** Another one has got hold of a refresh token that was replaced. */
  async function stealAt(token: string): Promise<void> {
    const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token: token });
    const response = await fetch(`${provider.origin}/token`, { method: "POST", headers: { authorization: provider.basic }, body });
    expect(response.status).toBe(400);
  }

  it("keeps an account without a refresh token and an expiry, as those of GitHub, until it is connected again", async () => {
    const slug = await addApp({ clientAuthentication: "body", answers: "negotiated", hasRefreshToken: false });
    const { connection_id: connection, url } = await start(slug);
    await click(provider.signIn(url, redirectUri));
    const { account_id: id } = await outcome(connection);
    const before = provider.tokenRequests.length;
    const { status, spec } = await operate(id, 365 * 24 * hourMs);
    expect([status.needsReconnect, spec.oauth, provider.tokenRequests.length]).toEqual([undefined, undefined, before]);
    const { body } = await ask("POST", `/v1/accounts/${id}/reconnect`, {});
    await click(provider.signIn(body.data.url, redirectUri));
    expect(await outcome(body.data.connection_id)).toMatchObject({ status: "connected", account_id: id });
  });

  it("says when an account expires that a second consent gave no refresh token, as at Google without prompt=consent", async () => {
    const slug = await addApp(
      { clientAuthentication: "body", refreshesOffline: true, expiresIn: 3_599 },
      { authorization_params: { access_type: "offline" } },
    );
    const { url, connection_id: connection } = await start(slug);
    await click(provider.signIn(url, redirectUri));
    const { account_id: id } = await outcome(connection);
    expect((await operate(id)).spec.oauth).toBeUndefined();
    const over = await operate(id, hourMs);
    expect(over.status.needsReconnect).toBe(true);
    expect(over.status.conditions?.find(({ type }) => type === "Ready")?.message).toContain("the service gave no refresh token");
  });

  it("needs a nested token where the app has a path for it", async () => {
    const { url, connection_id: connection } = await start(await addApp({}, { token_path: "authed_user" }));
    await click(provider.signIn(url, redirectUri));
    expect(await outcome(connection)).toMatchObject({
      status: "failed",
      problem: { code: "token_endpoint_unavailable", message: expect.stringContaining("without an access_token at authed_user") },
    });
  });
});
