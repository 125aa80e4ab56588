import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../domain/clock.ts";
import { ada, bob, keys, withApi, type Ask } from "./support.ts";

/** What the API's clock is ahead; it never goes back. */
let aheadMs = 0;
const api = withApi({ failureLimit: { requests: 500, windowMs: 60_000 } }, { clock: { now: () => systemClock.now() + aheadMs } });
const path = "/v1/users/me/keys";
const inSeconds = (seconds: number): number => Math.floor((systemClock.now() + aheadMs) / 1000) + seconds;

interface Made {
  readonly id: string;
  readonly key: string;
  readonly scopes: readonly string[];
  readonly expires_at: number | null;
}

async function make(body: object, ask: Ask = {}): Promise<Made> {
  const { status, body: answer } = await api.ask("POST", path, { ...ask, body: { name: "made", ...body } });
  expect([status, answer.code, answer.error]).toEqual([200, undefined, undefined]);
  return answer.data;
}

const statusOf = async (key: string, method = "GET", asked = "/v1/users/me"): Promise<unknown[]> => {
  const { status, body } = await api.ask(method, asked, { key });
  return [status, body?.code];
};

describe("a new key", () => {
  test("is shown once, is valid immediately, and is stored nowhere", async () => {
    const made = await make({ name: "laptop" });
    expect(made).toEqual({
      id: expect.stringMatching(/^pk_[0-9a-z]{12}$/),
      name: "laptop",
      prefix: made.key.slice(0, 10),
      scopes: ["read", "write"],
      created_at: expect.any(Number),
      expires_at: null,
      last_used_at: null,
      key: expect.stringMatching(/^hw_[\w-]{43}$/),
    });
    expect(await statusOf(made.key)).toEqual([200, undefined]);
    const { text, body } = await api.ask("GET", path);
    expect(body.data[0]).toEqual({ ...made, key: undefined, last_used_at: expect.any(Number) });
    expect(body.data.at(-1)).toMatchObject({ name: "test", scopes: ["read", "write"], expires_at: null });
    const { rows } = await sql`select * from api_keys`.execute(api.database.db);
    for (const place of [text, JSON.stringify(rows), JSON.stringify(api.log)]) expect(place).not.toContain(made.key);
    expect(text).not.toMatch(/[0-9a-f]{64}/);
  });

  test.each([
    [{ name: "" }, "name is invalid: it must not be empty"],
    [{ name: undefined }, "name is missing"],
    [{ name: "x".repeat(101) }, "it must have at most 100 characters"],
    [{ scopes: [] }, "scopes is invalid: it must name a scope at least"],
    [{ scopes: ["admin"] }, "it must be read or write"],
    [{ scopes: "read" }, "scopes is invalid"],
    [{ expires_at: 1_600_000_000 }, "expires_at 1600000000 is invalid: it must be later than now"],
    [{ expires_at: 1_600_000_000.5 }, "expires_at is invalid: it must be an integer"],
    [{ expires_at: Date.now() * 1_000 }, "it must be epoch seconds"],
  ])("as %j is refused: %s", async (wrong, message) => {
    const { status, body } = await api.ask("POST", path, { body: { name: "made", ...wrong } });
    expect([status, body.error]).toEqual([422, expect.stringContaining(message)]);
  });

  test("is refused if the user has fifty", async () => {
    const before = (await api.ask("GET", path, { key: keys.bob })).body.data.length;
    for (let n = before; n < 50; n++) await make({ name: `key ${n}` }, { key: keys.bob });
    const { status, body } = await api.ask("POST", path, { key: keys.bob, body: { name: "one more" } });
    expect([status, body.code]).toEqual([409, "too_many_keys"]);
    for (const { id } of (await api.accounts.listKeys(bob.id)).slice(0, -1)) await api.accounts.revokeKey(bob.id, id);
  });
});

describe("scopes", () => {
  test("a key with only read can read, and other requests name the missing scope", async () => {
    const { key } = await make({ scopes: ["read"] });
    expect(await statusOf(key)).toEqual([200, undefined]);
    expect((await api.ask("HEAD", "/v1/users/me", { key })).status).toBe(200);
    expect((await api.ask("OPTIONS", "/v1/sources", { key })).status).toBe(204);
    const { status, body } = await api.ask("POST", "/v1/webhooks?url=https://x.test/", { key });
    expect([status, body]).toEqual([
      403,
      {
        error: "POST needs the scope 'write', which this API key does not have: it has 'read'",
        code: "scope_missing",
        details: { needed: "write", scopes: ["read"] },
      },
    ]);
    expect((await api.ask("GET", "/v1/users/me/webhooks")).body.data).toEqual([]);
  });

  test("a key with only write can write, but not read", async () => {
    const { key } = await make({ scopes: ["write"] });
    expect(await statusOf(key)).toEqual([403, "scope_missing"]);
    expect((await api.ask("HEAD", "/v1/users/me", { key })).status).toBe(403);
    expect(await statusOf(key, "POST", "/v1/webhooks?url=https://x.test/")).toEqual([200, undefined]);
  });

  test("a key creates keys with at most its own scopes and expiry, by default the same", async () => {
    const end = inSeconds(3_600);
    const { key } = await make({ scopes: ["write"], expires_at: end });
    expect(await make({}, { key })).toMatchObject({ scopes: ["write"], expires_at: end });
    expect(await make({ expires_at: end - 60 }, { key })).toMatchObject({ expires_at: end - 60 });
    for (const more of [{ scopes: ["read"] }, { scopes: ["read", "write"] }, { expires_at: end + 1 }]) {
      const { status, body } = await api.ask("POST", path, { key, body: { name: "more", ...more } });
      expect([more, status, body.error]).toEqual([more, 403, expect.stringContaining("the new key would")]);
    }
  });
});

describe("a key that expires", () => {
  test("is valid until then, and has another error than an unknown key", async () => {
    const { id, key, expires_at } = await make({ expires_at: inSeconds(60) });
    expect(await statusOf(key)).toEqual([200, undefined]);
    aheadMs = 61_000;
    const { status, body, headers } = await api.ask("GET", "/v1/users/me", { key });
    const at = new Date((expires_at ?? 0) * 1_000).toISOString();
    expect([status, body]).toEqual([401, { error: `the API key ${id} expired at ${at}: use another one`, code: "key_expired" }]);
    expect(headers.get("www-authenticate")).toBe("Bearer");
    expect((await api.ask("GET", path)).body.data).toContainEqual(expect.objectContaining({ id, expires_at }));
  });
});

test("without a token there is no admin API", async () => {
  for (const key of [keys.ada, "", null]) expect((await api.ask("GET", "/admin/v1/users", { key })).body.code).toBe("no_such_route");
});

describe("DELETE", () => {
  test("revokes a key immediately, also the one that is used", async () => {
    const { id, key } = await make({});
    expect((await api.ask("DELETE", `${path}/${id}`, { key })).status).toBe(204);
    expect(await statusOf(key)).toEqual([401, "unauthenticated"]);
    expect((await api.ask("DELETE", `${path}/${id}`)).status).toBe(404);
    expect((await api.ask("GET", path)).body.data).not.toContainEqual(expect.objectContaining({ id }));
  });

  test("returns 404 for keys of others, hashes and prefixes", async () => {
    const { id, key } = await make({});
    const { rows } = await sql<{ key_hash: string }>`select key_hash from api_keys where user_id = ${ada.id}`.execute(api.database.db);
    for (const other of [...rows.map(({ key_hash }) => key_hash), key.slice(0, 10), "pk_none", "x", "%00"])
      expect([other, (await api.ask("DELETE", `${path}/${other}`)).status]).toEqual([other, 404]);
    expect((await api.ask("DELETE", `${path}/${id}`, { key: keys.bob })).status).toBe(404);
    expect(await statusOf(key)).toEqual([200, undefined]);
  });
});
