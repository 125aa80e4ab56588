import { connect } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import { acme, keys, withApi, type Answer } from "./support.ts";

/** Mistaken and malicious requests. Each response names the correct form and reveals nothing about other owners. */
const api = withApi();
let source = "";
const made = async (path: string, body: object, key: string = keys.ada) => {
  const { status, text, body: answer } = await api.ask("POST", path, { key, body });
  expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
  return answer.data;
};
const refused = ({ status, body }: Answer): unknown[] => [status, body?.code];

beforeAll(async () => {
  source = (await made("/v1/sources", { component_code: "name: odd; key: odd" })).id;
});

describe("a cursor", () => {
  test("of another owner's list is unknown, like an invented one", async () => {
    const ids = {
      sources: source,
      webhooks: (await made("/v1/webhooks", { url: "https://example.com/" })).id,
      accounts: (await made("/v1/accounts", { app: "shop", credentials: {} })).id,
      components: (await api.ask("GET", "/v1/components")).body.data[0].id,
    };
    const organizations = (await made(`/v1/webhooks?org_id=${acme.id}`, { url: "https://example.com/" })).id;
    const lists: [string, string, string][] = [
      ["/v1/users/me/sources", ids.sources, keys.bob],
      ["/v1/users/me/webhooks", ids.webhooks, keys.bob],
      ["/v1/accounts", ids.accounts, keys.bob],
      ["/v1/components", ids.components, keys.bob],
      // One's own, of another list.
      ["/v1/users/me/webhooks", organizations, keys.ada],
      [`/v1/orgs/${acme.id}/webhooks`, ids.webhooks, keys.ada],
    ];
    for (const [path, id, key] of lists) {
      for (const side of ["after", "before"]) {
        const of = (cursor: string) => api.ask("GET", `${path}?${side}=${Buffer.from(cursor).toString("base64url")}`, { key });
        const answer = await of(id);
        expect([path, ...refused(answer)]).toEqual([path, 422, "invalid_cursor"]);
        const nothing = id.replace(/_.*/, "_000000000000");
        expect(answer.text.replaceAll(id, nothing)).toBe((await of(nothing)).text);
      }
    }
  });

  test("of a deleted item keeps its position, only in its own list", async () => {
    const [older, gone] = [
      await made("/v1/webhooks", { url: "https://example.com/" }),
      await made("/v1/webhooks", { url: "https://example.com/" }),
    ];
    await api.ask("DELETE", `/v1/webhooks/${gone.id}`);
    const path = `/v1/users/me/webhooks?limit=1&after=${Buffer.from(gone.id).toString("base64url")}`;
    expect((await api.ask("GET", path)).body.data[0].id).toBe(older.id);
    expect(refused(await api.ask("GET", path, { key: keys.bob }))).toEqual([422, "invalid_cursor"]);
  });
});

describe("a number", () => {
  test.each(["101", "500", "0100", "9".repeat(15), "9".repeat(16), "9".repeat(500)])("limit=%s counts as 100", async (limit) => {
    expect((await api.ask("GET", `/v1/users/me/sources?limit=${limit}`)).status).toBe(200);
  });

  test.each(["0", "00", "-1", "1.5", "1e9", "abc", "%2B5", "%2010", "Infinity", "null", "0x10"])("limit=%s is refused", async (limit) => {
    expect(refused(await api.ask("GET", `/v1/users/me/sources?limit=${limit}`))).toEqual([422, "invalid_input"]);
  });

  test("is refused under its own name", async () => {
    const errorOf = async (path: string): Promise<string> => (await api.ask("GET", path)).body.error;
    expect(await errorOf(`/v1/sources/${source}/events?n=x`)).toBe("n 'x' is invalid: it must be an integer from 1 to 100");
    expect(await errorOf(`/v1/users/me/sources?limit=${"9".repeat(200)}x`)).toHaveLength(
      `limit '' is invalid: it must be an integer from 1 to 100`.length + 80,
    );
  });

  test("and objects have common names in errors", async () => {
    const { body } = await api.ask("POST", "/v1/accounts", { body: { app: "shop", credentials: "secret" } });
    expect(body.error).toBe("credentials is invalid: it must be an object");
    const key = await api.ask("POST", "/v1/users/me/keys", { body: { name: "k", expires_at: 1.5 } });
    expect(key.body.error).toBe("expires_at is invalid: it must be an integer");
  });
});

describe("text", () => {
  test.each(["\ud800", "x\udfff", "😀".slice(0, 1), "a\0b"])("that Postgres cannot hold is refused: %j", async (text) => {
    // JSON can write what a query cannot; readers of lists may send it, too.
    const asked: [string, string, object][] = [
      ["GET", "/v1/components/search", { app: text, query: text }],
      ["GET", "/v1/components/search/details", { app: text, query: text }],
      ["GET", "/v1/accounts", { app: text }],
      ["GET", `/v1/sources/${source}/event_summaries`, { event_name: text }],
      ["POST", "/v1/webhooks", { url: "https://example.com/", name: text }],
      ["POST", "/v1/sources", { key: "odd", name: text }],
      ["POST", "/v1/users/me/keys", { name: text }],
      ["DELETE", `/v1/sources/${source}/events`, { event_name: text }],
    ];
    for (const [method, path, body] of asked) {
      // fetch sends no body with GET.
      const { status } = await bodyOf(method, path, JSON.stringify(body));
      expect([method, path, status]).toEqual([method, path, 422]);
    }
  });

  test.each(["😀".repeat(40), "Shop", "a b", "x".repeat(64), "-"])("that is no app's name picks no accounts: %j", async (app) => {
    expect(refused(await api.ask("GET", `/v1/accounts?app=${encodeURIComponent(app)}`))).toEqual([422, "invalid_input"]);
  });

  test("that is empty does not filter", async () => {
    expect((await api.ask("GET", "/v1/accounts?app=")).status).toBe(200);
  });
});

test.each([
  "http://example.com/\0",
  "http://example.com/\r\nX-Header: of mine",
  "http://example.com/\u0085",
  "http://example.com/a b",
  "http://example.com/%zz",
  "http://a\\b/",
  "http://example.com#x",
])("refuses the address %j before creating anything", async (url) => {
  const { body, ...answer } = await api.ask("POST", "/v1/webhooks", { body: { url } });
  expect([answer.status, body.error]).toEqual([422, expect.stringMatching(/^url is invalid: it must be/)]);
  const oauth = { token_url: url, client_id: "c", refresh_token: "r" };
  expect((await api.ask("POST", "/v1/accounts", { body: { app: "shop", oauth } })).body.error).toMatch(/^oauth\.token_url is invalid/);
});

test("refuses a component's key that is too long for a request, and finds one of 255 characters", async () => {
  const codeOf = (key: string) => ({ component_code: `name: long; key: ${key}` });
  const { status, body } = await api.ask("POST", "/v1/components", { body: codeOf("k".repeat(256)) });
  expect([status, body.error]).toEqual([422, "the component's key has 256 characters; the limit is 255"]);
  const { id } = await made("/v1/components", codeOf("k".repeat(255)));
  expect((await api.ask("GET", `/v1/components/${"k".repeat(255)}`)).body.data.id).toBe(id);
});

describe("a deletion of events", () => {
  test("reads its bounds from query and body, and deletes nothing outside", async () => {
    const path = `/v1/sources/${source}/events`;
    const form = { "content-type": "application/x-www-form-urlencoded" };
    for (const ask of [{ body: { start_id: "1-0", end_id: "1-0" } }, { raw: "start_id=1-0&end_id=1-0", headers: form }])
      expect((await api.ask("DELETE", path, ask)).status).toBe(202);
    const { body } = await api.ask("GET", `${path}/deletions`);
    // There is none up to that end, so that none is named.
    expect(body.data.map(({ start_id, deleted }: Record<string, unknown>) => [start_id, deleted])).toEqual([
      ["1-0", 0],
      ["1-0", 0],
    ]);
  });

  test.each(["$errors", "$logs"])("is refused for %s, which contains no events", async (channel) => {
    const { status, body } = await api.ask("DELETE", `/v1/sources/${source}/events?event_name=${encodeURIComponent(channel)}`);
    expect([status, body.error]).toEqual([422, expect.stringContaining("cannot be deleted")]);
  });
});

test("refuses a request with several Host headers, and accepts one", async () => {
  const head = (target: string, hosts: string): Promise<string> =>
    sent(`GET ${target} HTTP/1.1\r\n${hosts}Authorization: Bearer ${keys.ada}\r\nConnection: close\r\n\r\n`);
  expect(await head("/v1/users/me", "Host: a\r\nHost: b\r\n")).toMatch(/^HTTP\/1\.1 400 .*"code":"malformed"/s);
  expect(await head("/v1/users/me", "")).toMatch(/^HTTP\/1\.1 400 /);
  expect(await head("/v1/users/me", "Host: a\r\n")).toMatch(/^HTTP\/1\.1 200 /);
  expect(await head("http://elsewhere.test/v1/users/me", "Host: a\r\n")).toMatch(/^HTTP\/1\.1 200 /);
});

/** All that is answered to these bytes until the connection ends. */
function sent(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(api.url).port), "127.0.0.1", () => socket.write(bytes));
    let answer = "";
    socket.setEncoding("utf8").on("data", (text: string) => (answer += text));
    socket.once("close", () => resolve(answer)).once("error", reject);
  });
}

async function bodyOf(method: string, path: string, body: string): Promise<{ status: number }> {
  const answer = await sent(
    `${method} ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${keys.ada}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]) };
}
