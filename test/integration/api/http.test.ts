import { describe, expect, test } from "vitest";
import { acme, ada, keys, others, withApi } from "./support.ts";

const api = withApi({ failureLimit: { requests: 500, windowMs: 60_000 } });

/** Every endpoint, with ids of Bob's where the path has one. Filled in by the first test that needs them. */
const endpoints = [
  ["GET", "/v1/users/me"],
  ["GET", "/v1/users/me/auto_subscriptions"],
  ["GET", "/v1/users/me/sources"],
  ["GET", "/v1/users/me/subscriptions"],
  ["GET", "/v1/users/me/webhooks"],
  ["GET", "/v1/orgs/ORG"],
  ["GET", "/v1/orgs/ORG/auto_subscriptions"],
  ["GET", "/v1/orgs/ORG/sources"],
  ["GET", "/v1/orgs/ORG/subscriptions"],
  ["GET", "/v1/orgs/ORG/webhooks"],
  ["GET", "/v1/workspaces/ORG"],
  ["GET", "/v1/workspaces/ORG/auto_subscriptions"],
  ["GET", "/v1/workspaces/ORG/sources"],
  ["GET", "/v1/workspaces/ORG/subscriptions"],
  ["GET", "/v1/workspaces/ORG/webhooks"],
  ["POST", "/v1/components"],
  ["GET", "/v1/components/COMPONENT"],
  ["GET", "/v1/components/registry/a-key"],
  ["POST", "/v1/sources"],
  ["GET", "/v1/sources/SOURCE"],
  ["PUT", "/v1/sources/SOURCE"],
  ["DELETE", "/v1/sources/SOURCE"],
  ["GET", "/v1/sources/SOURCE/event_summaries"],
  ["GET", "/v1/sources/SOURCE/events"],
  ["DELETE", "/v1/sources/SOURCE/events"],
  ["POST", "/v1/sources/SOURCE/runs"],
  ["GET", "/v1/sources/SOURCE/runs"],
  ["GET", "/v1/sources/SOURCE/runs/r_x"],
  ["GET", "/v1/sources/SOURCE/logs"],
  ["POST", "/v1/subscriptions"],
  ["DELETE", "/v1/subscriptions"],
  ["POST", "/v1/auto_subscriptions"],
  ["DELETE", "/v1/auto_subscriptions"],
  ["GET", "/v1/workflows/p_x/event_summaries"],
  ["GET", "/v1/workflows/p_x/$errors/event_summaries"],
  ["POST", "/v1/webhooks"],
  ["DELETE", "/v1/webhooks/WEBHOOK"],
] as const;

const isWrite = (method: string): boolean => method === "POST" || method === "PUT";

interface Ids {
  readonly source: string;
  readonly component: string;
  readonly webhook: string;
  readonly org: string;
}
let bobs: Promise<Ids> | undefined;

function bobsIds(): Promise<Ids> {
  bobs ??= (async () => {
    const key = keys.bob;
    const source = (await api.ask("POST", "/v1/sources", { key, body: { component_code: "name: Bob; key: bobs" } })).body.data;
    const webhook = (await api.ask("POST", "/v1/webhooks?url=https://bob.test/", { key })).body.data;
    return { source: source.id, component: source.component_id, webhook: webhook.id, org: others.id };
  })();
  return bobs;
}

const pathWith = (path: string, ids: Ids): string =>
  path.replace("SOURCE", ids.source).replace("COMPONENT", ids.component).replace("WEBHOOK", ids.webhook).replace("ORG", ids.org);

describe.each(endpoints)("%s %s", (method, path) => {
  test("returns 401 without a valid key", async () => {
    for (const ask of [{ key: null }, { key: "wrong" }, { key: null, headers: { authorization: "Basic YTpi" } }, { key: "" }]) {
      const { status, body, headers } = await api.ask(method, path, ask);
      expect([status, body.code, headers.get("www-authenticate")]).toEqual([401, "unauthenticated", "Bearer"]);
    }
  });

  test("reveals nothing of other owners", async () => {
    if (!/[A-Z]{3}/.test(path)) return;
    const { status, text } = await api.ask(method, pathWith(path, await bobsIds()), isWrite(method) ? { body: {} } : {});
    expect(status).toBe(path.includes("ORG") ? 403 : 404);
    expect(text).not.toContain("Bob");
  });

  test("returns 404 for unknown and malformed ids", async () => {
    if (!/[A-Z]{3}/.test(path)) return;
    for (const id of ["none", "o_none", "dc_none", "sc_none", "wh_none", "%00", "dc_%00", "..%2f..", "x".repeat(3_000), "%F0%9F%92%A9"]) {
      const asked = path.replace(/[A-Z]{3,}/, id);
      const { status, body } = await api.ask(method, asked, isWrite(method) ? { body: {} } : {});
      expect([asked.slice(0, 60), status]).toEqual([asked.slice(0, 60), 404]);
      expect(body.error).toEqual(expect.any(String));
    }
  });

  test("ignores a trailing slash", async () => {
    const [one, other] = await Promise.all([api.ask(method, path, { key: null }), api.ask(method, `${path}/`, { key: null })]);
    expect(other.status).toBe(one.status);
    const known = await api.ask("OPTIONS", `${path}/`);
    expect([known.status, known.headers.get("allow")]).toEqual([204, expect.stringContaining(method)]);
  });

  test("refuses unreadable bodies", async () => {
    if (!isWrite(method)) return;
    const asks = [
      { raw: "{", headers: { "content-type": "application/json" }, expected: [400, "invalid_json"] },
      { raw: "7", headers: { "content-type": "application/json" }, expected: [422, "invalid_input"] },
      { raw: " null ", headers: { "content-type": "application/json" }, expected: [422, "invalid_input"] },
      { raw: '"x"', headers: { "content-type": "application/json" }, expected: [422, "invalid_input"] },
      { raw: "[]", headers: { "content-type": "application/json" }, expected: [422, "invalid_input"] },
      {
        raw: "[".repeat(100_000) + "]".repeat(100_000),
        headers: { "content-type": "application/json" },
        expected: [422, "invalid_input"],
      },
      {
        raw: `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
        headers: { "content-type": "application/json" },
        expected: [422, "invalid_input"],
      },
      { raw: '{"a":', headers: { "content-type": "application/x-www-form-urlencoded" }, expected: [400, "invalid_json"] },
      { raw: Buffer.from('{"a":"\xff"}', "latin1"), headers: { "content-type": "application/json" }, expected: [400, "invalid_utf8"] },
      { raw: "a=%ff", headers: { "content-type": "application/x-www-form-urlencoded" }, expected: [400, "invalid_utf8"] },
      { raw: "[]", headers: { "content-type": "application/x-www-form-urlencoded" }, expected: [422, "invalid_input"] },
      { raw: '{"a":1}', headers: { "content-type": "text/plain" }, expected: [400, "wrong_content_type"] },
      {
        raw: '{"a":1}',
        headers: { "content-type": "application/json", "content-encoding": "gzip" },
        expected: [400, "malformed"],
      },
    ];
    for (const { expected, ...ask } of asks) {
      const { status, body } = await api.ask(method, path, ask);
      expect([status, body.code]).toEqual(expected);
    }
  });
});

describe("requests", () => {
  test("to an unknown path return 404 as JSON", async () => {
    for (const path of ["/", "/v2/users/me", "/v1", "/v1/nothing", "/v1/users/u_ada/sources"]) {
      const { status, body } = await api.ask("GET", path);
      expect([path, status, body.code]).toEqual([path, 404, "no_such_route"]);
    }
  });

  test("by another method return 405 with the allowed methods", async () => {
    const { status, body, headers } = await api.ask("PATCH", "/v1/sources/dc_x");
    expect([status, body.code, headers.get("allow")]).toEqual([405, "method_not_allowed", "GET, PUT, DELETE, HEAD, OPTIONS"]);
    expect((await api.ask("GET", "/v1/sources/dc_x/replays")).headers.get("allow")).toBe("POST, OPTIONS");
  });

  test("by HEAD get the response of GET without its body", async () => {
    const { status, text, headers } = await api.ask("HEAD", "/v1/users/me");
    expect([status, text, headers.get("content-type")]).toEqual([200, "", "application/json; charset=utf-8"]);
  });

  test("with a path that cannot be decoded return 400", async () => {
    const { status, body } = await api.ask("GET", "/v1/sources/%zz");
    expect([status, body.code]).toEqual([400, "malformed"]);
  });

  test("get headers against sniffing, framing and caching", async () => {
    const { headers } = await api.ask("GET", "/v1/users/me");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-powered-by")).toBeNull();
    expect(headers.get("x-request-id")).toMatch(/^[0-9a-f]{16}$/);
    expect(headers.get("ratelimit")).toContain("r=");
  });

  test("log one line each, without query, body or key", async () => {
    await api.ask("POST", "/v1/webhooks?url=https://very-secret.test/", { body: {} });
    const line = api.log.findLast((fields) => "http.route" in fields && fields["http.route"] === "/v1/webhooks");
    expect(line).toMatchObject({
      op: "http.request",
      "http.request.method": "POST",
      "http.response.status_code": 200,
      "user.id": ada.id,
      duration_ms: expect.any(Number),
    });
    expect(JSON.stringify(api.log)).not.toMatch(/very-secret|key-of-/);
  });
});

describe("a form", () => {
  const form = { "content-type": "application/x-www-form-urlencoded; charset=UTF-8" };

  test("has the fields of JSON as strings", async () => {
    const raw = new URLSearchParams({ url: "https://form.test/ä?b=1", name: "a b" }).toString();
    const { status, body } = await api.ask("POST", "/v1/webhooks", { raw, headers: form });
    expect([status, body.data.url, body.data.name]).toEqual([200, "https://form.test/ä?b=1", "a b"]);
    const { id } = body.data;
    expect((await api.ask("PUT", `/v1/webhooks/${id}`, { raw: "active=false", headers: form })).body.data.active).toBe(false);
    expect((await api.ask("POST", "/v1/webhooks", { raw: "__proto__=x&url=ftp://x", headers: form })).status).toBe(422);
  });

  test("is parsed as JSON if it looks like JSON, as curl sends it", async () => {
    const raw = JSON.stringify({ url: "https://form.test/", name: "a&b=c" });
    const { status, body } = await api.ask("POST", "/v1/webhooks", { raw, headers: form });
    expect([status, body.data.name]).toEqual([200, "a&b=c"]);
  });
});

describe("users/me", () => {
  test("returns the user with organizations and usage", async () => {
    const { status, body } = await api.ask("GET", "/v1/users/me");
    expect(status).toBe(200);
    expect(body).toEqual({
      data: {
        ...ada,
        email_confirmed: true,
        orgs: [{ name: acme.name, id: acme.id, orgname: acme.orgname, email: acme.email, email_confirmed: false }],
        daily_compute_time_quota: expect.any(Number),
        daily_compute_time_used: 0,
        daily_invocations_quota: expect.any(Number),
        daily_invocations_used: 0,
      },
    });
  });

  test.each([
    ["include=id,email,", ["id", "email"]],
    [
      "exclude=orgs,daily_compute_time_quota,daily_compute_time_used,daily_invocations_quota,daily_invocations_used,email,email_confirmed",
      ["id", "username"],
    ],
    ["include=id,email&exclude=email", ["id"]],
  ])("with %s has these fields", async (query, fields) => {
    expect(Object.keys((await api.ask("GET", `/v1/users/me?${query}`)).body.data)).toEqual(fields);
  });

  test("with include given twice is refused", async () => {
    expect((await api.ask("GET", "/v1/users/me?include=a&include=b")).status).toBe(422);
  });
});

describe("the platform", () => {
  test("reads health, readiness and metrics without a key", async () => {
    expect((await api.ask("GET", "/healthz", { key: null })).body).toEqual({ status: "ok" });
    expect((await api.ask("GET", "/readyz", { key: null })).body).toEqual({ status: "ready", checks: { database: "ok" } });
    const { text, headers } = await api.ask("GET", "/metrics", { key: null });
    expect(headers.get("content-type")).toContain("text/plain");
    expect(text).toMatch(/headwater_http_request_duration_seconds_count\{method="GET",route="\/v1\/users\/me",status="200"\} \d+/);
    expect(text).toContain("process_cpu_seconds_total");
    expect(text).not.toContain("dc_");
  });
});
