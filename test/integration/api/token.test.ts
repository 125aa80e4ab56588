import { beforeAll, describe, expect, test } from "vitest";
import { ada, bob, keys, withApi, type Answer } from "./support.ts";
import { described, expectToFit } from "./document-support.ts";

/** OAuth 2.0 client credentials (RFC 6749, section 4.4). */
const api = withApi({ failureLimit: { requests: 1_000, windowMs: 60_000 } });
const operation = described.find(({ route }) => route === "POST /oauth/token");

interface Key {
  readonly id: string;
  readonly key: string;
}
let [always, reading, short]: readonly Key[] = [];

beforeAll(async () => {
  const create = async (body: object): Promise<Key> => (await api.ask("POST", "/v1/users/me/keys", { body })).body.data;
  always = await create({ name: "always" });
  reading = await create({ name: "reading", scopes: ["read"] });
  short = await create({ name: "short", expires_at: Math.floor(Date.now() / 1_000) + 600 });
});

const form = (fields: Readonly<Record<string, string>>) => ({
  raw: new URLSearchParams({ grant_type: "client_credentials", ...fields }).toString(),
  headers: { "content-type": "application/x-www-form-urlencoded" },
});
const basic = (id: string, secret: string): string => `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`;

async function token(given: { raw?: string; body?: object; headers?: Readonly<Record<string, string>> }): Promise<Answer> {
  const answer = await api.ask("POST", "/v1/oauth/token", { key: null, ...given });
  if (operation === undefined) throw new Error("the operation is not described");
  expectToFit(operation, answer);
  return answer;
}

describe("a token", () => {
  test("is issued for credentials in a form, in JSON and by HTTP Basic, and works as a Bearer token", async () => {
    const { id = "", key = "" } = always ?? {};
    const credentials = { client_id: id, client_secret: key };
    const answers = [
      await token(form(credentials)),
      await token({ body: { grant_type: "client_credentials", ...credentials, scope: "*" } }),
      await token({ ...form({}), headers: { ...form({}).headers, authorization: basic(encodeURIComponent(id), encodeURIComponent(key)) } }),
      await token(form({ ...credentials, client_id: ada.id })),
    ];
    for (const { status, body, headers } of answers) {
      expect([status, headers.get("cache-control"), headers.get("pragma")]).toEqual([200, "no-store", "no-cache"]);
      expect(body).toMatchObject({ token_type: "Bearer", expires_in: 3_600, scope: "read write" });
      expect(Math.abs(body.created_at - Date.now() / 1_000)).toBeLessThan(60);
      expect((await api.ask("GET", "/v1/users/me", { key: body.access_token })).body.data.id).toBe(ada.id);
    }
  });

  test("has exactly the scopes of its key", async () => {
    const { body } = await token(form({ client_id: reading?.id ?? "", client_secret: reading?.key ?? "" }));
    expect(body.scope).toBe("read");
    expect((await api.ask("GET", "/v1/sources", { key: body.access_token })).status).toBe(200);
    const refused = await api.ask("POST", "/v1/webhooks?url=https://x.test", { key: body.access_token });
    expect([refused.status, refused.body.code]).toEqual([403, "scope_missing"]);
  });

  test("expires no later than its key", async () => {
    const { body } = await token(form({ client_id: short?.id ?? "", client_secret: short?.key ?? "" }));
    expect(body.expires_in).toBeGreaterThan(500);
    expect(body.expires_in).toBeLessThanOrEqual(600);
  });

  test("is invalid once its key is revoked, and no new one is issued", async () => {
    const { id, key } = (await api.ask("POST", "/v1/users/me/keys", { body: { name: "leaked" } })).body.data;
    const credentials = form({ client_id: id, client_secret: key });
    const { access_token } = (await token(credentials)).body;
    await api.ask("DELETE", `/v1/users/me/keys/${id}`);
    expect((await api.ask("GET", "/v1/users/me", { key: access_token })).status).toBe(401);
    expect((await token(credentials)).body.error).toBe("invalid_client");
  });
});

describe("an invalid token request", () => {
  const right = () => ({ client_id: ada.id, client_secret: always?.key ?? "" });

  test.each<[string, number, () => Parameters<typeof token>[0]]>([
    ["invalid_request", 400, () => ({ body: right() })],
    ["invalid_request", 400, () => ({ raw: "{", headers: { "content-type": "application/json" } })],
    ["invalid_request", 400, () => ({ raw: "x", headers: { "content-type": "text/plain" } })],
    ["invalid_request", 400, () => ({ body: { grant_type: "client_credentials", client_id: 7, client_secret: "x" } })],
    ["invalid_request", 400, () => ({ ...form(right()), headers: { ...form({}).headers, authorization: basic(ada.id, "x") } })],
    ["invalid_request", 413, () => ({ body: { ...right(), scope: "x".repeat(20_000) } })],
    ["unsupported_grant_type", 400, () => form({ ...right(), grant_type: "password" })],
    ["invalid_client", 401, () => form({})],
    ["invalid_client", 401, () => form({ ...right(), client_secret: "" })],
    ["invalid_client", 401, () => form({ ...right(), client_secret: "wrong" })],
    ["invalid_client", 401, () => form({ ...right(), client_id: bob.id })],
    ["invalid_client", 401, () => form({ ...right(), client_id: "pk_none" })],
    ["invalid_client", 401, () => ({ ...form({}), headers: { ...form({}).headers, authorization: "Basic ???" } })],
  ])("returns %s with %i", async (error, status, given) => {
    const answer = await token(given());
    expect([answer.status, answer.body]).toEqual([status, { error, error_description: expect.stringMatching(/\w/) }]);
    expect(answer.headers.get("www-authenticate")).toBe(status === 401 ? 'Basic realm="headwater"' : null);
    expect(answer.text).not.toContain(always?.key);
  });

  test("gets the same response for an unknown key and for a key of another user", async () => {
    const [unknown, foreign] = [
      await token(form({ client_id: ada.id, client_secret: "unknown" })),
      await token(form({ client_id: ada.id, client_secret: keys.bob })),
    ];
    expect(unknown.text).toBe(foreign.text);
  });

  test("returns 405 for other methods", async () => {
    const { status, headers } = await api.ask("GET", "/v1/oauth/token", { key: null });
    expect([status, headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
  });
});

describe("guessing client secrets", () => {
  const slow = withApi({ failureLimit: { requests: 5, windowMs: 60_000 } });

  test("is limited per address, with Retry-After", async () => {
    const guess = (n: number) => slow.ask("POST", "/v1/oauth/token", { key: null, ...form({ client_id: ada.id, client_secret: `${n}` }) });
    for (let n = 0; n < 5; n++) expect((await guess(n)).status).toBe(401);
    const { status, body, headers } = await guess(5);
    expect([status, body.error, Number(headers.get("retry-after")) > 0]).toEqual([429, "temporarily_unavailable", true]);
  });
});
