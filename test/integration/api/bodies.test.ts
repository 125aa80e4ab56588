import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { sourceKind } from "../../../crds/source.ts";
import { keys, withApi } from "./support.ts";
import { until } from "../../support/until.ts";

/** Bodies that cost more than they look. Limits are checked before anything is made of the bytes. */
const waiting: (() => void)[] = [];
let [asked, configuring] = [0, 0];
const untilTold = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
const api = withApi(
  { codeBytes: 2 ** 20, deployTimeoutMs: 8_000 },
  {
    // What the run receives is stored, as in the real one, and not kept.
    runs: {
      run: async () => {
        asked++;
        return { ended: untilTold().then(() => undefined) };
      },
      dryRun: async () => ({ outcome: Promise.resolve(undefined) }),
      control: async () => undefined,
      backfill: async () => undefined,
    },
    configurations: {
      configure: async () => {
        configuring++;
        await untilTold();
        return { outcome: "options", options: [], context: null, truncated: false };
      },
    },
  },
);
const json = { "content-type": "application/json" };
const send = (method: string, path: string, raw: string, key: string = keys.ada) => api.ask(method, path, { raw, headers: json, key });
const filled = (before: string, item: string, after: string, bytes: number): string =>
  before + item.repeat(Math.floor((bytes - before.length - after.length) / item.length)) + after;

describe("a body", () => {
  test("has a limit of 1 MiB, or of 4 MiB if it may contain code", async () => {
    const webhook = (bytes: number) =>
      send("POST", "/v1/webhooks", filled('{"url":"https://example.com/","description":"', "x", '"}', bytes));
    expect((await webhook(2 ** 20 + 1)).body.code).toBe("body_too_large");
    expect((await webhook(2 ** 20 - 1)).status).not.toBe(413);
    const component = (bytes: number) =>
      send("POST", "/v1/components", filled('{"component_code":"name: large","padding":"', "x", '"}', bytes));
    expect((await component(4 * 2 ** 20 + 1)).body.code).toBe("body_too_large");
    expect((await component(4 * 2 ** 20 - 100)).status).not.toBe(413);
  });

  test.each([
    ["empty arrays", "[],"],
    ["empty objects", "{},"],
    ["numbers", "1,"],
    ["short texts", '"",'],
  ])("of more than 100,000 values is refused: %s", async (_what, item) => {
    const { status, body } = await send("POST", "/v1/sources", filled('{"component_code":"name: many","any":[', item, "0]}", 3 * 2 ** 20));
    expect([status, body.code]).toEqual([413, "too_many_values"]);
  });

  test("of 100,000 levels is refused as nested too deep", async () => {
    const { status, body } = await send("POST", "/v1/webhooks", `{"url":${"[".repeat(100_000)}${"]".repeat(100_000)}}`);
    expect([status, body.error]).toEqual([422, "the body is nested more than 64 levels deep"]);
  });

  test("with more than 100,000 form fields is refused", async () => {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const { status, body } = await api.ask("POST", "/v1/webhooks", { raw: "a&".repeat(200_000), headers });
    expect([status, body.code]).toEqual([413, "too_many_values"]);
  });

  test("may be compressed, and its decompressed size is limited", async () => {
    const body = JSON.stringify({ name: "compressed", scopes: ["read"] });
    const bomb = "x".repeat(8 * 2 ** 20);
    for (const [encoding, compress] of [
      ["gzip", gzipSync],
      ["deflate", deflateSync],
      ["br", (text: string) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
    ] as const) {
      const post = async (text: string) => {
        const headers = { ...json, "content-encoding": encoding, authorization: `Bearer ${keys.ada}` };
        const response = await fetch(`${api.url}/v1/users/me/keys`, { method: "POST", body: new Uint8Array(compress(text)), headers });
        return [response.status, ((await response.json()) as { code?: string }).code];
      };
      expect([encoding, await post(body)]).toEqual([encoding, [200, undefined]]);
      expect([encoding, await post(bomb)]).toEqual([encoding, [413, "body_too_large"]]);
    }
    const unreadable = await api.ask("POST", "/v1/users/me/keys", { raw: body, headers: { ...json, "content-encoding": "gzip" } });
    expect([unreadable.status, unreadable.body.code]).toEqual([400, "malformed"]);
  });

  test("may begin with a byte order mark", async () => {
    expect((await send("POST", "/v1/users/me/keys", '\uFEFF{"name":"marked","scopes":["read"]}')).status).toBe(200);
  });
});

describe("while a request waits", () => {
  const many = (values: number): string => `[${"{},".repeat(values)}0]`;
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void; // V8's own.
  const usedBytes = (): number => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };

  test("for a run, its body is released and does not count against the user's budget", async () => {
    const { id } = (await api.ask("POST", "/v1/sources", { body: { component_code: "name: waits" } })).body.data;
    const [count, values] = [12, 90_000]; // Each takes 6 MB; half of 64 MiB are one user's.
    const before = usedBytes();
    const answers: Promise<number>[] = [];
    for (let nth = 0; nth < count; nth++) {
      answers.push(send("POST", `/v1/sources/${id}/runs`, `{"event":${many(values)}}`).then(({ status }) => status));
      await until(() => asked === nth + 1);
    }
    expect(usedBytes() - before).toBeLessThan(count * 2_000_000);
    for (const end of waiting.splice(0)) end();
    expect(new Set(await Promise.all(answers))).toEqual(new Set([202]));
  });

  test("for a deployment, its body is released", async () => {
    const [count, values] = [6, 90_000];
    const before = usedBytes();
    const answers: Promise<string>[] = [];
    for (let nth = 0; nth < count; nth++) {
      const body = `{"component_code":"name: large","name":"stuck ${nth}","notes":${many(values)}}`;
      answers.push(send("POST", "/v1/sources", body).then((answer) => answer.body.code));
      await until(async () => (await api.store.list(sourceKind, { limit: 100 })).items.some(({ spec }) => spec.name === `stuck ${nth}`));
    }
    expect(usedBytes() - before).toBeLessThan(count * 2_000_000);
    expect(new Set(await Promise.all(answers))).toEqual(new Set(["not_ready_in_time"]));
  });

  test("for a component's code, its body counts against its user's budget, and not against that of others", async () => {
    const { id } = (await api.ask("POST", "/v1/components", { body: { component_code: "name: options; props: city" } })).body.data;
    const options = (key: string) =>
      send("POST", `/v1/components/${id}/options`, `{"prop_name":"city","configured_props":{"city":${many(90_000)}}}`, key);
    const answers: Promise<number>[] = [];
    for (let nth = 1; nth <= 5; nth++) {
      answers.push(options(keys.ada).then(({ status }) => status));
      await until(() => configuring === nth);
    }
    const refused = await options(keys.ada);
    expect([refused.status, refused.body.code, refused.headers.get("retry-after")]).toEqual([503, "overloaded", "1"]);
    expect((await send("PUT", "/v1/webhooks/wh_none", `{"name":${many(90_000)}}`, keys.bob)).status).not.toBe(503);
    for (const end of waiting.splice(0)) end();
    expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
    expect((await send("PUT", "/v1/webhooks/wh_none", `{"name":${many(90_000)}}`)).status).not.toBe(503);
  });
});
