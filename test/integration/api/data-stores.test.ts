import { beforeAll, describe, expect, it } from "vitest";
import { dataStoreKind } from "../../../crds/data-store.ts";
import { dataStoreLimits } from "../../../domain/data-store/data-stores.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { acme, ada, keys, withApi } from "./support.ts";

const api = withApi();
const ask = (method: string, path: string, body?: unknown, key: string = keys.ada) =>
  api.ask(method, `/v1${path}`, { key, ...(body === undefined ? {} : { body }) });
const made = async (name = "orders", query = ""): Promise<string> => (await ask("POST", `/data_stores${query}`, { name })).body.data.id;

describe("data stores", () => {
  it("are created, read, changed, listed with their sizes, and deleted with their entries", async () => {
    const created = await ask("POST", "/data_stores", { name: "orders", description: "by number" });
    expect([created.status, created.body.data]).toEqual([
      200,
      expect.objectContaining({ id: expect.stringMatching(/^ds_/), name: "orders", description: "by number", entries: 0, bytes: 0 }),
    ]);
    const { id } = created.body.data;
    await ask("PUT", `/data_stores/${id}/entries/a`, { value: [1, 2] });
    expect((await ask("PUT", `/data_stores/${id}`, { name: "all orders", description: null })).body.data).toMatchObject({
      name: "all orders",
      description: null,
      entries: 1,
      bytes: 6,
    });
    const { body } = await ask("GET", "/data_stores");
    expect(body.data.find((store: { readonly id: string }) => store.id === id)).toMatchObject({ name: "all orders", entries: 1 });
    expect((await ask("DELETE", `/data_stores/${id}`)).status).toBe(204);
    for (const path of [`/data_stores/${id}`, `/data_stores/${id}/entries`, `/data_stores/${id}/entries/a`])
      expect((await ask("GET", path)).status).toBe(404);
    const again = await ask("PUT", `/data_stores/${id}/entries/a`, { value: 1 });
    expect(again.status).toBe(404);
  });

  it("belong to the organization with org_id, for its members alone", async () => {
    const id = await made("team", `?org_id=${acme.id}`);
    const ids = async (key: string, query = ""): Promise<readonly string[]> =>
      (await ask("GET", `/data_stores${query}`, undefined, key)).body.data.map((store: { readonly id: string }) => store.id);
    expect(await ids(keys.ada, `?org_id=${acme.id}`)).toEqual([id]);
    expect(await ids(keys.ada)).not.toContain(id);
    const mine = await made();
    for (const [method, path] of [
      ["GET", `/data_stores/${mine}`],
      ["PUT", `/data_stores/${mine}/entries/a`],
      ["DELETE", `/data_stores/${mine}`],
    ] as const)
      expect((await ask(method, path, method === "PUT" ? { value: 1 } : undefined, keys.bob)).status).toBe(404);
  });
});

describe("entries", () => {
  let id: string;
  beforeAll(async () => {
    id = await made("entries");
  });
  const entry = (key: string): string => `/data_stores/${id}/entries/${encodeURIComponent(key)}`;

  it("have any JSON value, and keys with any character but U+0000", async () => {
    for (const [key, value] of [
      ["a b/c?d=ä%", { deep: ["\0", null, 1.5] }],
      ["null", null],
      ["..x", "text"],
    ] as const) {
      expect((await ask("PUT", entry(key), { value })).status).toBe(200);
      expect((await ask("GET", entry(key))).body.data).toMatchObject({ key, value, expires_at: null });
      expect((await ask("DELETE", entry(key))).status).toBe(204);
      expect((await ask("DELETE", entry(key))).status).toBe(404);
    }
  });

  it("stay when a request for one of them has no key", async () => {
    await ask("PUT", entry("kept"), { value: 1 });
    expect((await ask("DELETE", `/data_stores/${id}/entries/`)).status).toBe(405);
    expect((await ask("DELETE", `/data_stores/${id}/entries`)).status).toBe(405);
    expect((await ask("GET", entry("kept"))).body.data).toMatchObject({ value: 1 });
  });

  it("are set only at the version that was read", async () => {
    const { version } = (await ask("PUT", entry("v"), { value: 1, if_version: 0 })).body.data;
    const refused = await ask("PUT", entry("v"), { value: 2, if_version: 0 });
    expect([refused.status, refused.body.code, refused.body.details]).toEqual([409, "data_store_changed", { version }]);
    expect((await ask("PUT", entry("v"), { value: 2, if_version: version })).status).toBe(200);
    expect((await ask("DELETE", `${entry("v")}?if_version=${version}`)).status).toBe(409);
  });

  it("expire", async () => {
    await ask("PUT", entry("short"), { value: 1, ttl: 1 });
    expect((await ask("GET", entry("short"))).body.data?.expires_at ?? "gone").toMatch(/Z$|^gone$/);
    await expect.poll(async () => (await ask("GET", entry("short"))).status, { timeout: 30_000 }).toBe(404);
  });

  it("are listed in pages, with and without values", async () => {
    const store = await made("paged");
    for (let n = 0; n < 25; n++) await ask("PUT", `/data_stores/${store}/entries/k${String(n).padStart(2, "0")}`, { value: n });
    const found: unknown[] = [];
    let after = "";
    for (;;) {
      const { body } = await ask("GET", `/data_stores/${store}/entries?limit=10&after=${after}`);
      expect(body.page_info.total_count).toBe(25);
      found.push(...body.data.map(({ key, value }: { readonly key: string; readonly value: number }) => [key, value]));
      if (body.data.length < 10) break;
      after = body.page_info.end_cursor;
    }
    expect(found).toEqual(Array.from({ length: 25 }, (_, n) => [`k${String(n).padStart(2, "0")}`, n]));
    const keysOnly = (await ask("GET", `/data_stores/${store}/entries?values=false`)).body.data;
    expect(keysOnly).toHaveLength(25);
    expect(keysOnly[0]).not.toHaveProperty("value");
    expect((await ask("POST", `/data_stores/${store}/clear`)).status).toBe(204);
    expect((await ask("GET", `/data_stores/${store}`)).body.data).toMatchObject({ entries: 0, bytes: 0 });
  });

  it("take a value of 1 MiB", async () => {
    const value = "x".repeat(dataStoreLimits.valueBytes - 2);
    expect((await ask("PUT", entry("whole"), { value })).status).toBe(200);
    expect((await ask("GET", entry("whole"))).body.data.value).toBe(value);
  });

  it("fill a page although their values are large", async () => {
    const store = await made("large");
    for (const key of ["a", "b", "c"]) await ask("PUT", `/data_stores/${store}/entries/${key}`, { value: "x".repeat(700_000) });
    const { body } = await ask("GET", `/data_stores/${store}/entries`);
    expect(body.data.map(({ key }: { readonly key: string }) => key)).toEqual(["a", "b", "c"]);
  });

  it.each([
    ["no value", {}],
    ["a value over 1 MiB", { value: "x".repeat(dataStoreLimits.valueBytes - 1) }],
    ["a ttl of no time", { value: 1, ttl: 0 }],
    ["a negative version", { value: 1, if_version: -1 }],
  ])("are refused with %s", async (_, body) => {
    const { status } = await ask("PUT", entry("refused"), body);
    expect(status).toBe(422);
    expect((await ask("GET", entry("refused"))).status).toBe(404);
  });
});

describe("a store in use", () => {
  const code = "name: Keeper; key: keeper; props: city";

  it("is not deleted, unless force is true; the refusal names its users", async () => {
    const store = await made("used");
    const source = (await ask("POST", "/sources", { component_code: code, configured_props: { city: "x" } })).body.data.id;
    await api.store.update(dataStoreKind, await api.store.get(dataStoreKind, namespaceOfOwner(ada.id), store.replace("_", "-")));
    const used = await ask("PUT", `/sources/${source}`, { configured_props: { city: store } });
    expect(used.status).toBe(200);
    const refused = await ask("DELETE", `/data_stores/${store}`);
    expect([refused.status, refused.body.code, refused.body.details]).toEqual([
      409,
      "data_store_in_use",
      { sources: [source], workflows: [] },
    ]);
    expect((await ask("DELETE", `/data_stores/${store}?force=true`)).status).toBe(204);
  });
});
