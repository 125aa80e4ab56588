import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { componentKind } from "../../../crds/component.ts";
import { labels } from "../../../crds/resource.ts";
import type { ComponentQuery, ListedComponent } from "../../../api/resources/library/ports.ts";
import type { ComponentDefinition } from "../../../domain/component/definition.ts";
import { createComponentLibrary } from "../../../platform/postgres/component-library.ts";
import { transactionalMigrations as migrations } from "../../../platform/postgres/migrations/transactional.ts";
import { createResourceMirror } from "../../../platform/postgres/resources/resource-mirror.ts";
import { createPostgresResourceStore } from "../../../platform/postgres/resources/resource-store.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { withDatabase } from "./support.ts";

const postgres = withMigratedPostgres();
const [owners, database] = [withDatabase("setup", postgres), withDatabase("api", postgres)];
const library = createComponentLibrary(database);
let made = 0;

const define = (fields: Partial<ComponentDefinition>): ComponentDefinition => ({
  name: "Unnamed",
  type: "source",
  props: [],
  hooks: [],
  hasAdditionalProps: false,
  ...fields,
});

/** A built component, as the operator stores it. @returns its id */
async function save(namespace: string, definition: ComponentDefinition, more: Readonly<Record<string, string>> = {}): Promise<string> {
  const store = createPostgresResourceStore(database);
  const id = `sc_c${++made}`;
  const component = await store.create(componentKind, {
    name: `sc-c${made}`,
    namespace,
    spec: { code: "x".repeat(1_000) },
    labels: { [labels.id]: id, ...(definition.key === undefined ? {} : { [labels.componentKey]: definition.key }), ...more },
  });
  const build = { codeHash: `hash-${made}`, bundle: "b", bundleBytes: 1, needsNode: false, definition, lockfile: null };
  await store.updateStatus(componentKind, { ...component, status: { id, build, updatedAt: 1_000 } });
  return id;
}

const search = async (query: Partial<ComponentQuery>): Promise<string[]> =>
  (await library.search({ namespaces: ["shelf"], words: [], similarity: 1, limit: 100, published: [], ...query })).items.map(
    ({ definition }) => definition.name,
  );

const published = (definition: ComponentDefinition): ListedComponent => ({
  id: "sc_published",
  definition,
  codeHash: "h",
  createdAtMs: 0,
  updatedAtMs: 0,
  isPublished: true,
});

describe("lists of components", () => {
  test("are newest first, in pages, with built components only", async () => {
    const ids: string[] = [];
    for (const n of [1, 2, 3]) ids.unshift(await save("pages", define({ name: `N${n}`, key: "paged", version: `${n}.0.0` })));
    await createPostgresResourceStore(database).create(componentKind, { name: "unbuilt", namespace: "pages", spec: { code: "x" } });
    await save("pages", define({ name: "Other", key: "other" }));
    const first = await library.listPage({ namespace: "pages", keyLabel: "paged" }, { limit: 2, cursor: null });
    expect(first.items.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(first.total).toBe(3);
    expect(first.items[0]).toMatchObject({ definition: { name: "N3", version: "3.0.0" }, updatedAtMs: 1_000, isPublished: false });
    const page = (cursor: { side: "after" | "before"; id: string }) =>
      library.listPage({ namespace: "pages", keyLabel: "paged" }, { limit: 2, cursor });
    expect((await page({ side: "after", id: ids[1] ?? "" })).items.map(({ id }) => id)).toEqual(ids.slice(2));
    expect((await page({ side: "before", id: ids[2] ?? "" })).items.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect((await library.listPage({ namespace: "pages" }, { limit: 9, cursor: null })).total).toBe(4);
    expect(await library.listPage({ namespace: "missing" }, { limit: 9, cursor: null })).toEqual({ items: [], total: 0 });
    await expect(page({ side: "after", id: "sc_none" })).rejects.toMatchObject({ code: "invalid_cursor" });
    expect((await library.findVersion("pages", "paged", "2.0.0"))?.status.build?.definition.name).toBe("N2");
    expect(await library.findVersion("pages", "paged", "9.0.0")).toBeUndefined();
  });

  test("are searched only among those with a key, before the limit applies", async () => {
    await save("keyed", define({ name: "With", key: "with" }));
    for (const name of ["Without 1", "Without 2"]) await save("keyed", define({ name }));
    expect(await search({ namespaces: ["keyed"], limit: 2 })).toEqual(["Without 2", "Without 1"]);
    expect(await search({ namespaces: ["keyed"], limit: 2, keyed: true })).toEqual(["With"]);
  });

  test("are searched only among the newest of each owner, however many there are", async () => {
    const few = createComponentLibrary(database, { maxSearched: 2 });
    for (const namespace of ["many", "more"])
      for (const n of [1, 2, 3]) await save(namespace, define({ name: `Searched ${n}`, key: `${namespace}-${n}` }));
    const query: ComponentQuery = { namespaces: ["many", "more"], words: ["searched"], similarity: 1, limit: 9, published: [] };
    const found = await few.search(query);
    expect(found.items.map(({ definition: { key } }) => key).toSorted()).toEqual(["many-2", "many-3", "more-2", "more-3"]);
    expect(found.total).toBe(4);
    expect((await library.search(query)).total).toBe(6);
  });

  test("include a cluster's mirrored components, until they are deleted", async () => {
    const mirror = createResourceMirror(database);
    const definition = define({ name: "Mirrored", key: "mirrored", version: "1.0.0" });
    const build = { codeHash: "h", bundle: "b", bundleBytes: 1, needsNode: false, definition, lockfile: null };
    const state = (resourceVersion: string, status: object) => ({
      apiVersion: "headwater.dev/v1alpha1",
      kind: componentKind.kind,
      metadata: {
        name: "sc-mirrored",
        namespace: "mirrored",
        uid: "00000000-0000-4000-8000-000000000001",
        resourceVersion,
        generation: 1,
        creationTimestamp: "2026-11-01T00:00:00.000Z",
        finalizers: [],
        labels: { [labels.id]: "sc_mirrored", [labels.componentKey]: "mirrored" },
        annotations: {},
      },
      spec: { code: "x" },
      status,
    });
    const listed = async () => (await library.listPage({ namespace: "mirrored" }, { limit: 9, cursor: null })).items.map(({ id }) => id);
    await mirror.write([state("10", {})], []);
    expect(await listed()).toEqual([]);
    await mirror.write([state("11", { id: "sc_mirrored", build, updatedAt: 5 })], []);
    expect(await listed()).toEqual(["sc_mirrored"]);
    expect((await library.findVersion("mirrored", "mirrored", "1.0.0"))?.metadata.resourceVersion).toBe("11");
    const { name, namespace, uid } = state("12", {}).metadata;
    await mirror.write([], [{ kind: componentKind.kind, name, namespace, uid, resourceVersion: "12" }]);
    expect(await listed()).toEqual([]);
  });

  test("contain text that Postgres cannot store, with the character replaced", async () => {
    await save("odd", define({ name: "a\0b", description: "half \ud800", props: [{ name: "p", type: "string", default: { "k\0": 1 } }] }));
    const { items } = await library.listPage({ namespace: "odd" }, { limit: 1, cursor: null });
    expect(items[0]?.definition).toMatchObject({
      name: "a\uFFFDb",
      description: "half \uFFFD",
      props: [{ name: "p", type: "string", default: { "k\uFFFD": 1 } }],
    });
  });
});

describe("search", () => {
  test("ranks equal keys first, then names, keys and apps, descriptions last", async () => {
    await save("shelf", define({ name: "Digital Twins", key: "twins", description: "not what is looked for" }));
    await save("shelf", define({ name: "New Star", key: "github-new-star", description: "A star" }));
    await save("shelf", define({ name: "GitHub Issues", key: "issues", description: "Issues" }));
    await save("shelf", define({ name: "Mirror", key: "mirror", description: "Copies from GitHub" }));
    await save("shelf", define({ name: "Commits", key: "commits", props: [{ name: "a", type: "app", app: "github" }] }));
    await save("shelf", define({ name: "Exactly", key: "git" }));
    const found = await search({ words: ["git"] });
    expect(found.slice(0, 2)).toEqual(["Exactly", "GitHub Issues"]);
    expect(found.slice(2, 4).toSorted()).toEqual(["Commits", "New Star"]);
    expect(found.slice(4)).toEqual(["Digital Twins", "Mirror"]);
    expect(await search({ words: ["new", "git"] })).toEqual(["New Star"]);
    expect(await search({ words: ["github-new-star"] })).toEqual(["New Star"]);
    expect(await search({ words: ["nothing", "git"] })).toEqual([]);
    expect(await search({ app: "github" })).toEqual(["Commits"]);
    expect(await search({ app: "git" })).toEqual([]);
  });

  test("matches %, _, \\\\ and quotes literally", async () => {
    await save("shelf", define({ name: '100% o\'clock \\ "x"', key: "odd" }));
    for (const word of ["100%", "o'clock", "\\", '"x"']) expect(await search({ words: [word] })).toEqual(['100% o\'clock \\ "x"']);
    expect(await search({ words: ["1_0"] })).toEqual([]);
  });

  test("returns the newest component with a key, of the first namespace that has it", async () => {
    await save("mine", define({ name: "Old", key: "same" }));
    await save("mine", define({ name: "New", key: "same" }));
    await save("ours", define({ name: "Theirs", key: "same" }));
    expect(await search({ namespaces: ["mine", "ours"], words: ["same"] })).toEqual(["New"]);
    expect(await search({ namespaces: ["ours", "mine"], words: ["same"] })).toEqual(["Theirs"]);
    expect(await search({ namespaces: [], words: ["same"] })).toEqual([]);
  });

  test("finds published components, unless the owner has a component of that key", async () => {
    const entries = [
      published(define({ name: "Feed", key: "hw-feed" })),
      published(define({ name: "Feed Action", key: "hw-act", type: "action" })),
    ];
    expect(await search({ namespaces: ["p"], words: ["feed"], published: entries })).toEqual(["Feed", "Feed Action"]);
    expect(await search({ namespaces: ["p"], words: ["feed"], type: "action", published: entries })).toEqual(["Feed Action"]);
    await save("p", define({ name: "Copy", key: "hw-feed" }), { [labels.registry]: "hw-feed" });
    expect(await search({ namespaces: ["p"], words: ["hw-feed"], published: entries })).toEqual(["Feed"]);
    await save("p", define({ name: "Mine", key: "hw-feed" }));
    expect(await search({ namespaces: ["p"], words: ["hw-feed"], published: entries })).toEqual(["Mine"]);
    const limited = await library.search({ namespaces: ["p"], words: [], similarity: 1, limit: 1, published: entries });
    expect([limited.items.length, limited.total]).toEqual([1, 2]);
  });
});

test("components built before the library existed are listed, unless SQL cannot parse them", async () => {
  await save("before", define({ name: "Kept" }));
  await save("before", define({ name: "zero \0" }));
  await sql`update resources set component = null where namespace = 'before'`.execute(owners.db);
  await sql`alter table resources drop column component`.execute(owners.db);
  await migrations["m0006-component-library"]?.up(owners.db);
  const { items } = await library.listPage({ namespace: "before" }, { limit: 9, cursor: null });
  expect(items.map(({ definition, updatedAtMs }) => [definition.name, updatedAtMs])).toEqual([["Kept", 1_000]]);
});
