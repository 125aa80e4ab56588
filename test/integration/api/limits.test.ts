import { expect, test } from "vitest";
import { Readiness } from "../../../api/http/telemetry/readiness.ts";
import { Unavailable } from "../../../domain/errors.ts";
import { keys, withApi } from "./support.ts";

let failure: Error | undefined;
const rateLimit = { requests: 5, windowMs: 60_000 };
const api = withApi(
  { rateLimit, failureLimit: { requests: 3, windowMs: 60_000 }, servesMetrics: false },
  {
    fetchComponent: async () => {
      throw failure ?? new Error("unset");
    },
    readiness: new Readiness(
      [
        { name: "database", check: () => Promise.reject(new Unavailable("no database")) },
        { name: "builder", check: () => Promise.resolve() },
      ],
      { info: () => undefined, warn: () => undefined },
    ),
  },
);
/** Another process, with the same users and keys. */
const other = withApi({ rateLimit }, { accounts: api.accounts });

test("limits the requests of one key, with Retry-After, and not those of another", async () => {
  for (let n = 0; n < 5; n++) expect((await api.ask("GET", "/v1/users/me")).status).toBe(200);
  const { status, body, headers } = await api.ask("GET", "/v1/users/me");
  expect([status, body.code]).toEqual([429, "rate_limited"]);
  expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(12);
  expect((await api.ask("GET", "/v1/users/me", { key: keys.bob })).status).toBe(200);
});

test("counts the requests of a key in each process for itself", async () => {
  const [first, second] = [await api.ask("GET", "/v1/users/me"), await other.ask("GET", "/v1/users/me")];
  expect([first.status, second.status]).toEqual([429, 200]);
  expect(second.headers.get("ratelimit")).toContain("r=4");
});

test("hides internals of an unexpected error, and logs them under the returned id", async () => {
  failure = new TypeError("password hunter2 of the database is wrong");
  const { status, body, text, headers } = await api.ask("POST", "/v1/components", {
    key: keys.bob,
    body: { component_url: "https://x.test/" },
  });
  expect([status, body.code, body.details]).toEqual([500, "internal", { request_id: headers.get("x-request-id") }]);
  expect(text).not.toContain("hunter2");
  expect(api.log.find((line) => "request.id" in line && line["request.id"] === body.details.request_id && "err" in line)).toMatchObject({
    op: "http.error",
    err: failure,
  });
});

test("returns 503 with Retry-After for an unavailable dependency", async () => {
  failure = new Unavailable("the builder is away");
  const { status, body, headers } = await api.ask("POST", "/v1/components", {
    key: keys.bob,
    body: { component_url: "https://x.test/" },
  });
  expect([status, body, headers.get("retry-after")]).toEqual([503, { error: "the builder is away", code: "unavailable" }, "1"]);
  const ready = await api.ask("GET", "/readyz", { key: null });
  expect([ready.status, ready.body]).toEqual([503, { status: "not ready", checks: { database: "no database", builder: "ok" } }]);
});

test("does not serve metrics that are served elsewhere", async () => {
  expect((await api.ask("GET", "/healthz", { key: null })).status).toBe(200);
  const { status, body } = await api.ask("GET", "/metrics", { key: null });
  expect([status, body.code]).toEqual([404, "no_such_route"]);
});
