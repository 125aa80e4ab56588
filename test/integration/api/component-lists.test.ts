import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { acme, keys, published, withApi } from "./support.ts";

const api = withApi();
const get = async (path: string, key: string = keys.ada) => (await api.ask("GET", path, { key })).body;
const save = async (code: string, query = "") =>
  (await api.ask("POST", `/v1/components${query}`, { body: { component_code: code } })).body.data;
const names = (body: { data: { name: string }[] }) => body.data.map(({ name }) => name);
const cursor = (id: string) => Buffer.from(id).toString("base64url");

describe("GET /v1/components", () => {
  test("lists the caller's components in pages, newest first, without code", async () => {
    expect(await get("/v1/components")).toEqual({
      page_info: { total_count: 0, count: 0, start_cursor: null, end_cursor: null, excluded_count: 0 },
      data: [],
    });
    const made: { id: string }[] = [];
    for (const n of [1, 2, 3]) made.unshift(await save(`name: Listed ${n}; key: listed; props: city`));
    const first = await get("/v1/components?limit=2");
    expect(names(first)).toEqual(["Listed 3", "Listed 2"]);
    expect(first.page_info).toMatchObject({ total_count: 3, count: 2, end_cursor: cursor(made[1]?.id ?? "") });
    expect(names(await get(`/v1/components?limit=2&after=${first.page_info.end_cursor}`))).toEqual(["Listed 1"]);
    expect(first.data[0]).toEqual({
      id: made[0]?.id,
      key: "listed",
      code_hash: createHash("sha256").update("name: Listed 3; key: listed; props: city").digest("hex"),
      name: "Listed 3",
      version: "0.0.1",
      description: null,
      type: "source",
      configurable_props: [{ name: "city", type: "string", label: "City", optional: true }],
      registry: false,
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
    });
    expect((await get("/v1/components", keys.bob)).data).toEqual([]);
  });

  test.each(["limit=0", "after=x", "after=a&before=b"])("refuses %s", async (query) => {
    expect((await api.ask("GET", `/v1/components?${query}`)).status).toBe(422);
  });

  test("lists an organization's components for its members", async () => {
    await save("name: Ours; key: ours", `?org_id=${acme.id}`);
    expect(names(await get(`/v1/components?org_id=${acme.id}`))).toEqual(["Ours"]);
    expect((await api.ask("GET", `/v1/components?org_id=${acme.id}`, { key: keys.bob })).status).toBe(403);
  });
});

describe("versions", () => {
  test("of a key are listed newest first, by key and by id, and each is found", async () => {
    const first = await save("name: V1; key: with-versions");
    await save("name: V2; key: with-versions");
    expect(names(await get("/v1/components/with-versions/versions"))).toEqual(["V2", "V1"]);
    expect(names(await get(`/v1/components/${first.id}/versions`))).toEqual(["V2", "V1"]);
    expect((await get("/v1/components/with-versions?version=0.0.1")).data.name).toBe("V2");
    expect((await api.ask("GET", "/v1/components/with-versions?version=9.9.9")).status).toBe(404);
    expect((await api.ask("GET", "/v1/components/with-versions/versions", { key: keys.bob })).status).toBe(404);
    const keyless = await save("name: Keyless");
    expect((await api.ask("GET", `/v1/components/${keyless.id}/versions`)).status).toBe(404);
  });
});

describe("search", () => {
  const details = (query: string, key?: string) => get(`/v1/components/search/details?${query}`, key);

  test("finds components of the caller, their organizations and the registry only", async () => {
    await save("name: Weather Report; key: weather");
    await save("name: Weather of Acme; key: acme-weather", `?org_id=${acme.id}`);
    expect(names(await details("query=weather")).toSorted()).toEqual(["Weather Report", "Weather of Acme"]);
    expect(names(await details(`query=WEATHER&org_id=${acme.id}`))).toEqual(["Weather of Acme"]);
    expect(names(await details("query=weather", keys.bob))).toEqual([]);
    const feed = await details("query=published%20feed", keys.bob);
    expect(feed.data).toMatchObject([{ key: "hw-feed", registry: true, name: "Published Feed" }]);
    expect(feed.page_info).toMatchObject({ total_count: 1, count: 1, start_cursor: null });
    expect(names(await details("query=published&type=action"))).toEqual([]);
    expect(names(await details("query=published&app=github"))).toEqual([]);
    expect((await details("query=&limit=1")).data).toHaveLength(1);
    expect(names(await details("", keys.bob))).toEqual(["Published Feed"]);
  });

  test("returns keys of sources and actions without a data envelope", async () => {
    await save("name: Report Weather; key: report-weather; type: action");
    await save("name: Weather without a key");
    const found = await get("/v1/components/search?query=weather");
    expect(Object.keys(found)).toEqual(["sources", "actions"]);
    expect(found.sources.toSorted()).toEqual(["acme-weather", "weather"]);
    expect(found.actions).toEqual(["report-weather"]);
    expect(await get("/v1/components/search?query=weather&app=github")).toEqual({ sources: [], actions: [] });
    expect(await get("/v1/components/search?query=weather&limit=1")).toMatchObject({ sources: [expect.any(String)] });
  });

  test("matches a sentence if the share of its words reaches similarity_threshold", async () => {
    const search = async (threshold: string) =>
      (await get(`/v1/components/search?query=weather+report+every+morning${threshold}`)).sources as readonly string[];
    expect(await search("")).toEqual(["weather"]);
    expect(await search("&similarity_threshold=0.25")).toEqual(["weather", "acme-weather"]);
    expect(await search("&similarity_threshold=1")).toEqual([]);
    expect(names(await details("query=weather+report+every+morning"))).toEqual([]);
    expect(names(await details("query=weather+report+every+morning&similarity_threshold=0.5&type=source"))).toEqual(["Weather Report"]);
  });

  test.each([
    ["search", "limit=0"],
    ["search", "query=%00"],
    ["search", "similarity_threshold=2"],
    ["search", "similarity_threshold=high"],
    ["search", `query=${"x".repeat(501)}`],
    ["search/details", "type=app"],
    ["search/details", "limit=x"],
  ])("%s refuses %s", async (path, query) => {
    expect((await api.ask("GET", `/v1/components/${path}?${query}`)).status).toBe(422);
  });
});

describe("the registry", () => {
  test("shows its components in the form of saved ones", async () => {
    expect((await get("/v1/components/registry/hw-feed")).data).toEqual({
      id: expect.stringMatching(/^sc_[0-9a-z]{12}$/),
      key: "hw-feed",
      deprecated: null,
      code: published.code,
      entry: null,
      files: [],
      origin: null,
      code_hash: createHash("sha256").update(published.code).digest("hex"),
      name: "Published Feed",
      version: "0.0.1",
      configurable_props: published.definition.props,
      created_at: Date.parse("2026-11-21") / 1_000,
      updated_at: Date.parse("2026-11-21") / 1_000,
    });
    expect(names(await get("/v1/components/registry"))).toEqual(["Published Feed"]);
    expect((await api.ask("GET", "/v1/components/registry/hw-feed?version=0.0.1")).status).toBe(200);
    expect((await api.ask("GET", "/v1/components/registry/hw-feed?version=2")).status).toBe(404);
    for (const key of ["none", "__proto__", "constructor"])
      expect((await api.ask("GET", `/v1/components/registry/${key}`)).status).toBe(404);
  });

  test("is deployed by key; an own component with the key takes precedence, an earlier copy does not", async () => {
    const deploy = async (key: string) => (await api.ask("POST", "/v1/sources", { body: { key: "hw-feed" }, key })).body.data;
    const [one, two] = [await deploy(keys.bob), await deploy(keys.bob)];
    expect(two.component_id).toBe(one.component_id);
    expect((await get(`/v1/components/${one.component_id}`, keys.bob)).data.code).toBe(published.code);
    // The copy is no component of the owner's own: the search goes on showing the registry's.
    expect((await get("/v1/components/search/details?query=hw-feed", keys.bob)).data).toMatchObject([{ registry: true }]);
    const own = (await api.ask("POST", "/v1/components", { body: { component_code: "name: Mine; key: hw-feed" }, key: keys.bob })).body
      .data;
    expect((await deploy(keys.bob)).component_id).toBe(own.id);
    expect((await get("/v1/components/search/details?query=hw-feed", keys.bob)).data).toMatchObject([{ registry: false, name: "Mine" }]);
    expect((await api.ask("POST", "/v1/sources", { body: { key: "no-such-key" } })).status).toBe(404);
  });
});
