import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { RefreshOutcome, RefreshRequest } from "../../operator/ports.ts";
import { createEgress } from "../../platform/http/egress.ts";
import { createTokenRefresher } from "../../platform/http/token-refresher.ts";
import { client, say, startOauthServer, type OauthServer } from "../support/oauth-server.ts";

let server: OauthServer;
const refresher = createTokenRefresher({ egress: createEgress({ allow: ["127.0.0.0/8"] }), timeoutMs: 30_000 });

beforeAll(async () => {
  server = await startOauthServer();
});
afterAll(() => server.close());
beforeEach(() => {
  server.instead = undefined;
  server.requests.length = 0;
  Object.assign(server, { rotates: false, expiresIn: 3_600 });
});

const request = (other: Partial<RefreshRequest> = {}): RefreshRequest => ({
  tokenUrl: server.tokenUrl,
  ...client,
  clientAuthentication: "basic",
  refreshToken: server.refreshToken,
  ...other,
});

/** The error must contain nothing that was sent or received. */
function expectNothingSecret(outcome: RefreshOutcome): void {
  const text = JSON.stringify(outcome);
  for (const secret of [client.clientSecret, encodeURIComponent(client.clientSecret), server.refreshToken, "wrong-token"])
    expect(text).not.toContain(secret);
}

describe("a refresh", () => {
  it("returns the token and its lifetime", async () => {
    const outcome = await refresher.refresh(request());
    expect(outcome).toEqual({ outcome: "refreshed", tokens: { accessToken: server.given.at(-1), expiresInSeconds: 3_600 } });
    expect(server.requests[0]).toMatchObject({
      contentType: expect.stringContaining("application/x-www-form-urlencoded"),
      parameters: { grant_type: "refresh_token", refresh_token: server.refreshToken },
    });
    expect(server.requests[0]?.parameters).not.toHaveProperty("client_secret");
  });

  it("sends the client's secret in the body if configured, and the scope", async () => {
    const outcome = await refresher.refresh(request({ clientAuthentication: "body", scope: "read write" }));
    expect(outcome.outcome).toBe("refreshed");
    expect(server.requests[0]?.authorization).toBeUndefined();
    expect(server.requests[0]?.parameters).toMatchObject({ client_secret: client.clientSecret, scope: "read write" });
  });

  it("returns the refresh token that replaces the previous one", async () => {
    server.rotates = true;
    const outcome = await refresher.refresh(request());
    expect(outcome).toMatchObject({ outcome: "refreshed", tokens: { refreshToken: server.refreshToken } });
    await expect(refresher.refresh(request())).resolves.toMatchObject({ outcome: "refreshed" });
  });

  it("accepts an id token of an unknown issuer, a number as a string, and a missing type", async () => {
    server.instead = (_, response) => say(response, 200, { access_token: "a", id_token: "x.y.z", expires_in: "60", refresh_token: null });
    expect(await refresher.refresh(request())).toEqual({ outcome: "refreshed", tokens: { accessToken: "a", expiresInSeconds: 60 } });
    server.instead = (_, response) => say(response, 200, { access_token: "a", expires_in: "soon" });
    expect(await refresher.refresh(request())).toEqual({ outcome: "refreshed", tokens: { accessToken: "a" } });
  });

  it.each([
    ["an unknown refresh token", { refreshToken: "wrong-token" }, "invalid_grant"],
    ["another secret", { clientSecret: "wrong-token" }, "invalid_client"],
    ["no secret", { clientSecret: undefined }, "invalid_client"],
  ])("is refused with %s, without quoting it", async (_what, other, code) => {
    const { clientSecret, ...rest } = { ...request(), ...other };
    const outcome = await refresher.refresh({ ...rest, ...(clientSecret === undefined ? {} : { clientSecret }) });
    const isGrantVoid = code === "invalid_grant" ? { isGrantVoid: true } : {};
    expect(outcome).toEqual({ outcome: "refused", why: expect.stringContaining(code), ...isGrantVoid });
    expectNothingSecret(outcome);
  });

  it("is refused if the service responds 200 with an error, as some do, whatever the code", async () => {
    server.instead = (_, response) => say(response, 200, { ok: false, error: `bad ${client.clientSecret}` });
    const outcome = await refresher.refresh(request());
    expect(outcome.outcome).toBe("refused");
    expectNothingSecret(outcome);
  });

  it("is refused after a redirect, which is not followed", async () => {
    server.instead = (_, response) => void response.writeHead(307, { location: server.tokenUrl }).end();
    expect(await refresher.refresh(request())).toEqual({ outcome: "refused", why: "it answered 307" });
    expect(server.requests).toHaveLength(1);
  });

  it("is refused for an address that the egress policy denies", async () => {
    const strict = createTokenRefresher({ egress: createEgress({ allow: [] }), timeoutMs: 30_000 });
    expect(await strict.refresh(request())).toEqual({ outcome: "refused", why: expect.stringContaining("egress to 127.0.0.1 is denied") });
    expect(server.requests).toHaveLength(0);
  });

  it.each([
    [503, { "retry-after": "7" }, { outcome: "unavailable", why: "it answered 503", retryAfterMs: 7_000 }],
    [429, {}, { outcome: "unavailable", why: "it answered 429" }],
    [500, { "retry-after": "soon" }, { outcome: "unavailable", why: "it answered 500" }],
  ])("can be retried after a %i", async (status, headers, expected) => {
    server.instead = (_, response) => say(response, status, { error: "invalid_grant" }, headers);
    expect(await refresher.refresh(request())).toEqual(expected);
  });

  it.each([
    ["no JSON", "<html>", "without an access_token"],
    ["a list", "[]", "without an access_token"],
    ["nothing", "", "without an access_token"],
    ["an empty token", '{"access_token":""}', "without an access_token"],
    ["more than a token response needs", `{"access_token":"${"x".repeat(300_000)}"}`, "cannot be reached"],
  ])("can be retried after %s", async (_what, body, why) => {
    server.instead = (_, response) => void response.writeHead(200).end(body);
    const outcome = await refresher.refresh(request());
    expect(outcome).toEqual({ outcome: "unavailable", why: expect.stringContaining(why) });
    expectNothingSecret(outcome);
  });

  it("can be retried if the service responds late, breaks off, or does not listen", async () => {
    server.instead = () => undefined;
    const impatient = createTokenRefresher({ egress: createEgress({ allow: ["127.0.0.0/8"] }), timeoutMs: 1_000 });
    expect(await impatient.refresh(request())).toEqual({ outcome: "unavailable", why: "it did not answer within 1 s" });
    server.instead = (incoming) => void incoming.socket.destroy();
    expect(await refresher.refresh(request())).toMatchObject({ outcome: "unavailable" });
    const gone = await startOauthServer();
    await gone.close();
    const outcome = await refresher.refresh(request({ tokenUrl: gone.tokenUrl }));
    expect(outcome).toEqual({
      outcome: "unavailable",
      why: `connection refused by ${new URL(gone.tokenUrl).host}: nothing listens there`,
    });
    expectNothingSecret(outcome);
  });
});
