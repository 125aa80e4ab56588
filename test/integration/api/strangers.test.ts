import { describe, expect, test } from "vitest";
import { keys, withApi } from "./support.ts";

/** Requests without a valid key, beside requests with one from the same address. */
const failureLimit = { requests: 3, windowMs: 3_600_000 };

describe("without a trusted proxy", () => {
  const api = withApi({ failureLimit });

  test("returns 401 for wrong keys, then 429 with Retry-After, and still accepts valid keys", async () => {
    for (let n = 0; n < 3; n++) expect((await api.ask("GET", "/v1/users/me", { key: `guess-${n}` })).status).toBe(401);
    const { status, body, headers } = await api.ask("GET", "/v1/users/me", { key: "guess" });
    expect([status, body.code]).toEqual([429, "too_many_failures"]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect((await api.ask("GET", "/v1/users/me", { key: null })).status).toBe(429);
    for (const key of Object.values(keys)) expect((await api.ask("GET", "/v1/users/me", { key })).status).toBe(200);
  });

  test("ignores an address that the caller claims", async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        api.ask("GET", "/v1/users/me", { key: "guess", headers: { "x-forwarded-for": `203.0.113.${n}` } }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]));
  });

  test("handles a flood of unknown keys with few statements, and finds a valid key among them", async () => {
    const flood = Promise.all(Array.from({ length: 400 }, (_, n) => api.ask("GET", "/v1/users/me", { key: `unknown-${n}` })));
    expect((await api.ask("GET", "/v1/users/me")).status).toBe(200);
    expect(new Set((await flood).map(({ status }) => status))).toEqual(new Set([429]));
  });
});

describe("behind a trusted proxy", () => {
  const api = withApi({ failureLimit, trustedProxies: { networks: ["127.0.0.0/8"] } });
  const guessFrom = async (client: string): Promise<number> =>
    (await api.ask("GET", "/v1/users/me", { key: "guess", headers: { "x-forwarded-for": client } })).status;

  test("counts failures per client, whatever it puts before its address", async () => {
    for (let n = 0; n < 3; n++) expect(await guessFrom(`198.51.100.${n}, 203.0.113.9`)).toBe(401);
    expect(await guessFrom("198.51.100.77, 203.0.113.9")).toBe(429);
    expect(await guessFrom("203.0.113.10")).toBe(401);
  });
});
