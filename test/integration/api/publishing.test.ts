import { beforeEach, describe, expect, test } from "vitest";
import { sql } from "kysely";
import { publicationLimits } from "../../../domain/component/publication.ts";
import { createPublications } from "../../../platform/postgres/publications/publications.ts";
import { keys, withApi, type Answer } from "./support.ts";

const adminToken = "an-admin-token-of-many-characters-0123456789";
const api = withApi({ adminToken });

const admin = (method: string, path: string, body?: object): Promise<Answer> =>
  api.ask(method, `/admin/v1/components/${path}`, { key: adminToken, ...(body === undefined ? {} : { body }) });
const save = async (code: string, key: string = keys.ada): Promise<string> =>
  (await api.ask("POST", "/v1/components", { body: { component_code: code }, key })).body.data.id;
const publish = async (code: string): Promise<Answer> => admin("POST", `${await save(code)}/publish`);
const registry = (path: string, key: string = keys.bob): Promise<Answer> => api.ask("GET", `/v1/components/registry/${path}`, { key });
const version = async (path: string): Promise<string> => (await registry(path)).body.data.version;
const feed = (number: string, more = ""): string => `name: Feed; key: acme-feed; version: ${number}; props: city; ${more}`;

beforeEach(async () => void (await sql`truncate publications`.execute(api.database.db)));

describe("a published component", () => {
  test("is found by its key and by version, and listed for every owner", async () => {
    const { status, body } = await publish(feed("1.2.0"));
    expect([status, body.warnings]).toEqual([200, undefined]);
    expect(body.data).toMatchObject({ key: "acme-feed", version: "1.2.0", name: "Feed", code: feed("1.2.0"), deprecated: null });
    for (const path of ["acme-feed", "acme-feed?version=1.2.0"]) expect((await registry(path)).body.data).toEqual(body.data);
    const listed = { id: body.data.id, key: "acme-feed", version: "1.2.0", registry: true };
    expect((await api.ask("GET", "/v1/components/registry", { key: keys.bob })).body.data).toContainEqual(expect.objectContaining(listed));
    expect((await registry("acme-feed/versions")).body.data).toMatchObject([{ ...listed, deprecated: null }]);
    const search = (path: string) => api.ask("GET", `/v1/components/search${path}`, { key: keys.bob });
    expect((await search("?query=acme+feed&similarity_threshold=1")).body.sources).toEqual(["acme-feed"]);
    expect((await search("/details?query=acme-feed")).body.data).toMatchObject([listed]);
  });

  test("is deployed by its key by any owner, from a copy in their namespace", async () => {
    const original = await save(feed("1.0.0"));
    await admin("POST", `${original}/publish`);
    const { status, body } = await api.ask("POST", "/v1/sources", { key: keys.bob, body: { key: "acme-feed" } });
    expect([status, body.data.name]).toEqual([200, "feed"]);
    expect(body.data.component_id).not.toBe(original);
    expect((await api.ask("GET", "/v1/components/search?query=acme-feed", { key: keys.bob })).body.sources).toEqual(["acme-feed"]);
  });

  test("stays after its author has deleted the original", async () => {
    const original = await save(feed("1.0.0"));
    await admin("POST", `${original}/publish`);
    expect((await api.ask("DELETE", `/v1/components/${original}`)).status).toBe(204);
    expect((await registry("acme-feed")).status).toBe(200);
  });

  test("gives way to the owner's own component with the same key", async () => {
    await publish("name: Rates; key: acme-rates; version: 1.0.0");
    const own = await save("name: Rates; key: acme-rates", keys.bob);
    const { body } = await api.ask("POST", "/v1/sources", { key: keys.bob, body: { key: "acme-rates" } });
    expect(body.data.component_id).toBe(own);
  });
});

describe("versions", () => {
  test("cannot be published again with other code; with the same code it changes nothing", async () => {
    const first = await publish(feed("1.0.0"));
    expect((await publish(feed("1.0.0"))).body).toEqual(first.body);
    const { status, body } = await publish(feed("1.0.0", "changed"));
    expect([status, body.code]).toEqual([409, "version_published"]);
    expect(body.error).toBe("version 1.0.0 of acme-feed is published with other code: give the component a new version");
    expect((await registry("acme-feed")).body.data.code).toBe(feed("1.0.0"));
  });

  test("published at the same time with different code end in one version", async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, (_, n) => save(feed("1.0.0", `v${n}`))));
    const statuses = (await Promise.all(ids.map((id) => admin("POST", `${id}/publish`)))).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: 7 }, () => 409)]);
  });

  test("the newest that is not deprecated is the one of the key", async () => {
    for (const number of ["1.10.0", "1.9.0", "2.0.0-beta.1"]) await publish(feed(number));
    expect(await version("acme-feed")).toBe("1.10.0");
    expect((await registry("acme-feed/versions")).body.data.map((each: { version: string }) => each.version)).toEqual([
      "2.0.0-beta.1",
      "1.10.0",
      "1.9.0",
    ]);
    await admin("PUT", "registry/acme-feed@1.10.0", { deprecated: "it loses events: use 1.9.0" });
    expect(await version("acme-feed")).toBe("1.9.0");
    await admin("PUT", "registry/acme-feed@1.10.0", { deprecated: null });
    expect(await version("acme-feed")).toBe("1.10.0");
  });

  test("that do not exist are not found, with the ones that do", async () => {
    await publish(feed("1.0.0"));
    expect((await registry("acme-feed?version=3.0.0")).body).toMatchObject({
      code: "not_found",
      error: expect.stringContaining("has version 1.0.0 of acme-feed, but not version '3.0.0'"),
    });
    expect((await registry("acme-fede")).body.error).toContain("did you mean acme-feed?");
    expect((await api.ask("POST", "/v1/sources", { body: { key: "acme-fede" } })).body.error).toContain("did you mean acme-feed?");
  });
});

describe("a deprecated version", () => {
  const deprecated = "it is no longer maintained";
  const warning = { code: "version_deprecated", message: `version 1.0.0 of acme-feed is deprecated: ${deprecated}`, path: "version" };

  test("warns those who read, deploy or change it, and is not found by searches", async () => {
    await publish(feed("1.0.0"));
    const before = await api.ask("POST", "/v1/sources", { key: keys.bob, body: { key: "acme-feed" } });
    expect(before.body.warnings).toBeUndefined();
    const { body } = await admin("PUT", "registry/acme-feed@1.0.0", { deprecated });
    expect(body.data.deprecated).toBe(deprecated);
    expect((await registry("acme-feed")).body.warnings).toEqual([warning]);
    expect((await api.ask("POST", "/v1/sources", { key: keys.bob, body: { key: "acme-feed" } })).body.warnings).toEqual([warning]);
    const changed = await api.ask("PUT", `/v1/sources/${before.body.data.id}`, { key: keys.bob, body: { active: false } });
    expect(changed.body.warnings).toEqual([warning]);
    expect((await api.ask("GET", "/v1/components/search?query=acme-feed", { key: keys.bob })).body.sources).toEqual([]);
    expect((await api.ask("GET", "/v1/components/registry")).text).not.toContain("acme-feed");
  });

  test("warns when a step runs it", async () => {
    const code = "name: Step; key: acme-step; version: 1.0.0; type: action";
    await publish(code);
    await admin("PUT", "registry/acme-step@1.0.0", { deprecated });
    const { status, body } = await api.ask("POST", "/v1/workflows", {
      key: keys.bob,
      body: { name: "steps", steps: [{ name: "one", component_key: "acme-step" }] },
    });
    expect([status, body.error]).toEqual([200, undefined]);
    expect(body.warnings).toEqual([
      {
        code: "version_deprecated",
        message: `step 'one': version 1.0.0 of acme-step is deprecated: ${deprecated}`,
        path: "steps.one.version",
      },
    ]);
  });

  test("can be deleted, and its number is never used again", async () => {
    await publish(feed("1.0.0"));
    const remove = () => admin("DELETE", "registry/acme-feed@1.0.0");
    expect((await remove()).body).toMatchObject({ code: "version_not_deprecated" });
    await admin("PUT", "registry/acme-feed@1.0.0", { deprecated });
    expect((await remove()).status).toBe(204);
    for (const path of ["acme-feed", "acme-feed?version=1.0.0", "acme-feed/versions"]) expect((await registry(path)).status).toBe(404);
    expect((await remove()).status).toBe(404);
    for (const code of [feed("1.0.0"), feed("1.0.0", "changed")]) expect((await publish(code)).body.code).toBe("version_deleted");
    expect((await publish(feed("1.0.1"))).status).toBe(200);
  });

  test("is named exactly", async () => {
    await publish(feed("1.0.0"));
    expect((await admin("PUT", "registry/acme-feed@1.0", { deprecated })).body).toMatchObject({ code: "not_found" });
    expect((await admin("PUT", "registry/acme-feed@1.0.0", { deprecated: "" })).status).toBe(422);
  });
});

describe("publishing", () => {
  test.each([
    ["name: Feed; version: 1.0.0", "key_not_publishable", "set key to <app>-<name> in its code, for instance 'acme-feed'"],
    ["name: Feed; key: feed; version: 1.0.0", "key_not_publishable", "key 'feed' cannot be published: it must be <app>-<name>"],
    ["name: Feed; key: Acme-Feed; version: 1.0.0", "key_not_publishable", "lower-case letters"],
    ["name: Feed; key: headwater-feed; version: 1.0.0", "key_reserved", "keys that begin with headwater- come with Headwater"],
    ["name: Feed; key: acme-feed; props: shop; version: 1.0.0", "key_not_publishable", "must begin with the app of the component: shop-"],
    ["name: Feed; key: acme-feed; version: 1.0", "version_not_semantic", "version '1.0' is not a semantic version"],
    ["name: Feed; key: acme-feed; version: 1.0.0+build", "version_not_semantic", "without build metadata"],
  ])("refuses %s with %s", async (code, expected, says) => {
    const { status, body } = await publish(code);
    expect([status, body.code]).toEqual([422, expected]);
    expect(body.error).toContain(says);
  });

  test("takes the app of the component as the beginning of its key, and warns when the name differs", async () => {
    const { status, body } = await publish("name: New Order; key: shop-new-orders; props: shop; version: 1.0.0");
    expect([status, body.warnings]).toMatchObject([200, [{ code: "key_differs_from_name" }]]);
  });

  test("needs the admin token, and the id of a component", async () => {
    const id = await save(feed("1.0.0"));
    for (const [method, path] of [
      ["POST", `${id}/publish`],
      ["PUT", "registry/acme-feed@1.0.0"],
      ["DELETE", "registry/acme-feed@1.0.0"],
    ] as const)
      expect((await api.ask(method, `/admin/v1/components/${path}`)).status).toBe(401);
    for (const unknown of ["sc_none", "acme-feed", "dc_0123456789ab"]) expect((await admin("POST", `${unknown}/publish`)).status).toBe(404);
    expect((await registry("acme-feed")).status).toBe(404);
  });

  test("is in the audit log", async () => {
    const id = await save(feed("1.0.0"));
    await admin("POST", `${id}/publish`);
    await admin("PUT", "registry/acme-feed@1.0.0", { deprecated: "old" });
    const { rows } = await sql`
      select action, kind, resource_id, actor, fields from audit_log where actor = 'admin' order by n desc limit 2`.execute(
      api.database.db,
    );
    expect(rows).toEqual([
      { action: "deprecate", kind: "Component", resource_id: "acme-feed@1.0.0", actor: "admin", fields: ["deprecated"] },
      { action: "publish", kind: "Component", resource_id: id, actor: "admin", fields: [] },
    ]);
  });
});

describe("the bounds of the registry", () => {
  const publishing = (number: string) => ({
    id: `sc_${number}`,
    key: "acme-feed",
    version: number,
    code: "code",
    definition: {
      name: "Feed",
      key: "acme-feed",
      type: "source" as const,
      version: number,
      props: [],
      hooks: [],
      hasAdditionalProps: false,
    },
    publishedAtMs: 1,
  });

  test.each([
    [{ versionsOfKey: 1 }, "key-full"],
    [{ versions: 1 }, "full"],
    [{ codeBytes: 7 }, "full"],
    [{ definitionsBytes: 300 }, "full"],
  ])("%j refuse a second version with %s, until the first is deleted", async (bound, expected) => {
    const publications = createPublications(api.database, { ...publicationLimits, ...bound });
    expect(await publications.publish(publishing("1.0.0"))).toBe("published");
    expect(await publications.publish(publishing("2.0.0"))).toBe(expected);
    expect(await publications.publish(publishing("1.0.0"))).toBe("existing");
    await publications.deprecate("acme-feed", "1.0.0", "old");
    expect(await publications.delete("acme-feed", "1.0.0")).toBe("deleted");
    expect(await publications.publish(publishing("2.0.0"))).toBe("published");
  });
});
