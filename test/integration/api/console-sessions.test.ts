import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { hashOf } from "../../../api/http/access/hash.ts";
import { createSessions } from "../../../platform/postgres/accounts/sessions.ts";
import { ada, keys, withApi } from "./support.ts";

let now = Date.UTC(2026, 1, 10, 12);
const api = withApi({ failureLimit: { requests: 50, windowMs: 60_000 } }, { clock: { now: () => now } });

interface Session {
  readonly cookie: string;
  readonly csrf: string;
}

async function signIn(key: string = keys.ada): Promise<Session> {
  const { status, body, headers } = await api.ask("POST", "/console/session", { key: null, body: { api_key: key } });
  expect([status, body.error]).toEqual([200, undefined]);
  return { cookie: headers.get("set-cookie")?.split(";")[0] ?? "", csrf: body.data.csrf_token };
}

const withSession = ({ cookie, csrf }: Session, headers: Readonly<Record<string, string>> = {}) => ({
  key: null,
  headers: { cookie, "x-headwater-csrf": csrf, ...headers },
});

describe("a session of the console", () => {
  test("begins with an API key, in a cookie that scripts and other sites do not get", async () => {
    const { status, body, headers } = await api.ask("POST", "/console/session", { key: null, body: { api_key: keys.ada } });
    expect([status, body.data.user, body.data.scopes]).toEqual([200, ada, ["read", "write"]]);
    expect(headers.get("set-cookie")).toMatch(/^headwater_session=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(JSON.stringify(body)).not.toContain(keys.ada);
  });

  test("stores neither its token nor the key", async () => {
    const { cookie } = await signIn();
    const rows = JSON.stringify(await api.database.db.selectFrom("console_sessions").selectAll().execute());
    expect(rows).not.toContain(cookie.slice("headwater_session=".length));
    expect(rows).not.toContain(keys.ada);
    expect(JSON.stringify(api.log)).not.toContain(cookie.slice("headwater_session=".length));
  });

  test("takes the place of the key in /v1, for its user", async () => {
    const session = await signIn();
    const { status, body } = await api.ask("GET", "/v1/users/me", withSession(session));
    expect([status, body.data.id]).toEqual([200, ada.id]);
  });

  test("changes something only with its CSRF token, from its own origin", async () => {
    const session = await signIn();
    const ask = { body: { url: "https://example.com/hook" } };
    const attempts = [
      { ...withSession(session), headers: { cookie: session.cookie } },
      withSession({ ...session, csrf: "0".repeat(64) }),
      withSession({ ...session, csrf: (await signIn()).csrf }),
      withSession(session, { "sec-fetch-site": "cross-site" }),
      withSession(session, { "sec-fetch-site": "same-site" }),
    ];
    for (const attempt of attempts) {
      const { status, body } = await api.ask("POST", "/v1/webhooks", { ...attempt, ...ask });
      expect([status, ["csrf_token_missing", "cross_site"].includes(body.code)]).toEqual([403, true]);
    }
    const { status } = await api.ask("POST", "/v1/webhooks", { ...withSession(session, { "sec-fetch-site": "same-origin" }), ...ask });
    expect(status).toBe(200);
  });

  test("ends when its user signs out", async () => {
    const session = await signIn();
    const refused = await api.ask("DELETE", "/console/session", { key: null, headers: { cookie: session.cookie } });
    expect(refused.status).toBe(403);
    const { status, headers } = await api.ask("DELETE", "/console/session", withSession(session));
    expect([status, headers.get("set-cookie")]).toEqual([204, expect.stringContaining("headwater_session=; Path=/; Max-Age=0")]);
    expect((await api.ask("GET", "/v1/users/me", withSession(session))).body.code).toBe("session_ended");
  });

  test("ends with its key: revoked, or expired", async () => {
    const made = async (body: object) => (await api.ask("POST", "/v1/users/me/keys", { key: keys.ada, body })).body.data;
    const revoked = await made({ name: "to revoke" });
    const session = await signIn(revoked.key);
    await api.ask("DELETE", `/v1/users/me/keys/${revoked.id}`, { key: keys.ada });
    expect((await api.ask("GET", "/v1/users/me", withSession(session))).status).toBe(401);
    const expiring = await made({ name: "short", expires_at: now / 1_000 + 60 });
    const short = await signIn(expiring.key);
    now += 61_000;
    expect((await api.ask("GET", "/v1/users/me", withSession(short))).status).toBe(401);
  });

  test("has no more rights than its key", async () => {
    const { body } = await api.ask("POST", "/v1/users/me/keys", { key: keys.ada, body: { name: "reader", scopes: ["read"] } });
    const session = await signIn(body.data.key);
    expect((await api.ask("GET", "/v1/users/me", withSession(session))).status).toBe(200);
    const { status, body: refused } = await api.ask("POST", "/v1/webhooks", {
      ...withSession(session),
      body: { url: "https://example.com" },
    });
    expect([status, refused.code]).toEqual([403, "scope_missing"]);
  });
});

describe("a session of another user, put into a browser", () => {
  test("is refused without the second secret, which only signing in returns", async () => {
    const [own, foreign] = [await signIn(), await signIn(keys.bob)];
    for (const headers of [{}, { "x-headwater-csrf": "" }, { "x-headwater-csrf": own.csrf }])
      for (const path of ["/v1/users/me", "/console/session"]) {
        const { status, body, text } = await api.ask("GET", path, { key: null, headers: { cookie: foreign.cookie, ...headers } });
        expect([path, status, body.code]).toEqual([path, 401, "session_unbound"]);
        expect(text).not.toContain(foreign.csrf);
      }
    expect((await api.ask("GET", "/console/session", withSession(own))).body.data.user).toEqual(ada);
  });

  test("is refused beside one's own, in either order", async () => {
    const [own, foreign] = [await signIn(), await signIn(keys.bob)];
    for (const cookie of [`${own.cookie}; ${foreign.cookie}`, `${foreign.cookie}; a=1; ${own.cookie}`])
      for (const [method, path] of [
        ["GET", "/v1/users/me"],
        ["POST", "/v1/webhooks"],
        ["GET", "/console/session"],
        ["DELETE", "/console/session"],
      ] as const) {
        const { status, body } = await api.ask(method, path, withSession({ ...own, cookie }));
        expect([path, status, body.code]).toEqual([path, 400, "session_ambiguous"]);
      }
    const withKey = await api.ask("GET", "/v1/users/me", { headers: { cookie: `${own.cookie}; ${foreign.cookie}` } });
    expect(withKey.status).toBe(200);
  });
});

describe("a session over https", () => {
  const behindProxy = withApi({ trustedProxies: { networks: ["127.0.0.0/8"] } });

  test("has a cookie that only this host can set, and no other", async () => {
    const https = { "x-forwarded-proto": "https" };
    const { headers, body } = await behindProxy.ask("POST", "/console/session", { key: null, headers: https, body: { api_key: keys.ada } });
    const cookie = headers.get("set-cookie")?.split(";")[0] ?? "";
    expect(headers.get("set-cookie")).toMatch(
      /^__Host-headwater_session=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure$/,
    );
    const ask = async (sent: string, proto: string): Promise<number> => {
      const all = { cookie: sent, "x-headwater-csrf": body.data.csrf_token, "x-forwarded-proto": proto };
      return (await behindProxy.ask("GET", "/v1/users/me", { key: null, headers: all })).status;
    };
    expect(await ask(cookie, "https")).toBe(200);
    expect(await ask(`headwater_session=other; ${cookie}`, "https")).toBe(200);
    expect(await ask(cookie.replace("__Host-", ""), "https")).toBe(401);
    expect(await ask(cookie, "http")).toBe(401);
  });
});

describe("sessions of one key", () => {
  const limited = withApi({ rateLimit: { requests: 80, windowMs: 60_000 } }, { clock: { now: () => now } });
  const start = () => limited.ask("POST", "/console/session", { key: null, body: { api_key: keys.ada } });

  test("are limited in number: a further one ends the oldest", async () => {
    const first = await start();
    now += 1_000;
    for (let count = 0; count < 55; count++) await start();
    const { rows } = await sql<{ count: string }>`select count(*) from console_sessions`.execute(limited.database.db);
    expect(Number(rows[0]?.count)).toBe(50);
    const cookie = first.headers.get("set-cookie")?.split(";")[0] ?? "";
    const { body } = await limited.ask("GET", "/v1/users/me", withSession({ cookie, csrf: first.body.data.csrf_token }));
    expect(body.code).toBe("session_ended");
  });

  test("count towards the requests of the key", async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 85; count++) statuses.push((await start()).status);
    expect(statuses).toContain(429);
    expect((await limited.ask("GET", "/v1/users/me")).status).toBe(429);
  });
});

describe("a link that signs in", () => {
  test("begins one session, however many use it at once, and ends by itself", async () => {
    const sessions = createSessions(api.database.db);
    const linked = (token: string, expiresAt: number) =>
      sessions.startSession({ hash: hashOf(token), keyHash: hashOf(keys.ada), expiresAt, isLink: true }, now);
    await linked("a-link", now + 60_000);
    const uses = await Promise.all([1, 2, 3].map(() => api.ask("POST", "/console/session", { key: null, body: { link: "a-link" } })));
    expect(uses.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    await linked("an-old-link", now - 1_000);
    const late = await api.ask("POST", "/console/session", { key: null, body: { link: "an-old-link" } });
    expect([late.status, late.body.code]).toEqual([401, "link_ended"]);
    const asCookie = await api.ask("GET", "/v1/users/me", { key: null, headers: { cookie: "headwater_session=a-link" } });
    expect(asCookie.status).toBe(401);
  });
});

describe("the page of the console", () => {
  test.each(["/", "/sources", "/sources/dc_1", "/webhooks/wh_1", "/sign-in"])("is %s for browsers, with a strict policy", async (path) => {
    const { status, headers, text } = await api.ask("GET", path, { key: null, headers: { accept: "text/html" } });
    expect([200, 503]).toContain(status);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toContain("unsafe");
    expect([headers.get("x-frame-options"), headers.get("x-content-type-options")]).toEqual(["DENY", "nosniff"]);
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=/);
  });

  test("says in a browser that a page is unknown, and reports unknown routes of the API as JSON", async () => {
    const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
    const page = await api.ask("GET", "/nothing/here", { key: null, headers: browser });
    expect([404, 503]).toContain(page.status); // 503: the console is not built.
    expect(page.headers.get("content-type")).toMatch(/^text\//);
    expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
    const asProgram = await api.ask("GET", "/nothing/here", { key: null, headers: { accept: "*/*" } });
    expect([asProgram.status, asProgram.body.code]).toEqual([404, "no_such_route"]);
    const posted = await api.ask("POST", "/nothing/here", { key: null, headers: browser });
    expect([posted.status, posted.body.code]).toEqual([404, "no_such_route"]);
    const ofTheApi = await api.ask("GET", "/v1/nothing", { headers: browser });
    expect([ofTheApi.status, ofTheApi.body.code]).toEqual([404, "no_such_route"]);
  });

  test("leaves the paths of programs alone", async () => {
    for (const accept of ["application/json", "*/*", "text/event-stream"]) {
      const { status } = await api.ask("GET", "/webhooks", { key: null, headers: { accept } });
      expect([accept, status]).toEqual([accept, 404]);
    }
  });

  test("serves no other file", async () => {
    for (const path of ["/assets/..%2findex.html", "/assets/%2e%2e/%2e%2e/package.json", "/assets/.hidden", "/assets/none.js"])
      expect([path, (await api.ask("GET", path, { key: null })).status]).toEqual([path, 404]);
  });
});

describe("signing in", () => {
  test("counts failed attempts to sign in, and shows none of them", async () => {
    for (const body of [{ api_key: "wrong-secret-text" }, { link: "wrong-secret-text" }, {}, { api_key: 5 }, "text"]) {
      const { status, text } = await api.ask("POST", "/console/session", { key: null, body });
      expect([401, 422, 400]).toContain(status);
      expect(text).not.toContain("wrong-secret-text");
    }
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => api.ask("POST", "/console/session", { key: null, body: { api_key: "guess" } })),
    );
    expect(answers.map(({ status }) => status)).toContain(429);
  });
});
