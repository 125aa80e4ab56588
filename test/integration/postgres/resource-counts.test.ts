import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { componentKind } from "../../../crds/component.ts";
import { apiVersion, labels, type Resource } from "../../../crds/resource.ts";
import { transactionalMigrations as migrations } from "../../../platform/postgres/migrations/transactional.ts";
import { createResourceMirror } from "../../../platform/postgres/resources/resource-mirror.ts";
import { createResourcePages } from "../../../platform/postgres/resources/resource-pages.ts";
import { createPostgresResourceStore } from "../../../platform/postgres/resources/resource-store.ts";
import { grantRights } from "../../../platform/postgres/roles.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { withDatabase } from "./support.ts";

/** Totals of lists are stored, not counted: after any write they equal the number of rows that lists show. */
const postgres = withMigratedPostgres();
const [owners, database] = [withDatabase("setup", postgres), withDatabase("operator", postgres)];
const [pages, mirror] = [createResourcePages(database), createResourceMirror(database)];
const namespaces = ["a", "b", "c"];

beforeEach(async () => void (await postgres.client.query("delete from resources")));

async function expectTotals(): Promise<void> {
  for (const namespace of namespaces) {
    const { items, total } = await pages.listPage(componentKind, { namespace }, { limit: 100, cursor: null });
    expect([namespace, total]).toEqual([namespace, items.length]);
  }
}

function resource(namespace: string, name: string, uid: string, version: number): Resource {
  const metadata = { name, namespace, uid, resourceVersion: String(version), generation: 1, creationTimestamp: "2026-11-22T00:00:00.000Z" };
  return {
    apiVersion,
    kind: "Component",
    metadata: { ...metadata, finalizers: [], labels: { [labels.id]: name }, annotations: {} },
    spec: {},
    status: {},
  };
}

test("of a store, with created, deleting and deleted resources", async () => {
  const store = createPostgresResourceStore(database);
  for (const namespace of namespaces) {
    for (const name of ["x", "y", "z"]) await store.create(componentKind, { name, namespace, spec: { code: "c" }, finalizers: ["f"] });
    await store.create(componentKind, { name: "free", namespace, spec: { code: "c" } });
  }
  await store.delete(componentKind, "a", "x");
  await store.delete(componentKind, "b", "free");
  await expectTotals();
  expect((await pages.listPage(componentKind, { namespace: "b" }, { limit: 1, cursor: null })).total).toBe(3);
  await expect(store.create(componentKind, { name: "x", namespace: "c", spec: { code: "c" } })).rejects.toMatchObject({ status: 409 });
  await expectTotals();
});

/** Method: random states and ends, of three resources with two lives each, in any order and by two concurrent writers. */
test("of a mirror, whether changes are repeated, late or lost", async () => {
  const lives = new Map(
    namespaces.flatMap((namespace) => ["x", "y", "z"].map((name) => [`${namespace}/${name}`, [randomUUID(), randomUUID()]])),
  );
  const write = fc.record({
    namespace: fc.constantFrom(...namespaces),
    name: fc.constantFrom("x", "y", "z"),
    life: fc.nat(1),
    version: fc.integer({ min: 1, max: 60 }),
    isEnd: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uniqueArray(write, { selector: ({ namespace, name }) => `${namespace}/${name}`, maxLength: 6 }), { maxLength: 8 }),
      async (batches) => {
        const apply = async (own: typeof batches): Promise<void> => {
          for (const batch of own) {
            const states = batch.map(({ namespace, name, life, version, isEnd }) => ({
              isEnd,
              state: resource(namespace, name, lives.get(`${namespace}/${name}`)?.[life] ?? "", version),
            }));
            const gone = states.filter(({ isEnd }) => isEnd).map(({ state: { kind, metadata } }) => ({ ...metadata, kind }));
            await mirror.write(
              states.filter(({ isEnd }) => !isEnd).map(({ state }) => state),
              gone,
            );
          }
        };
        await Promise.all([apply(batches.filter((_, n) => n % 2 === 0)), apply(batches.filter((_, n) => n % 2 === 1))]);
        await expectTotals();
        await mirror.forget(componentKind);
        await expectTotals();
      },
    ),
    { numRuns: 30 },
  );
});

test("of rows from before totals were stored", async () => {
  await mirror.write([resource("a", "x", randomUUID(), 1), resource("a", "y", randomUUID(), 2), resource("b", "x", randomUUID(), 3)], []);
  await mirror.write([], [{ ...resource("b", "x", "", 4).metadata, kind: "Component", uid: randomUUID() }]);
  await postgres.client.query(
    "drop table resource_counts; drop function count_resources cascade; drop function count_ended_resource cascade",
  );
  await migrations["m0011-resource-counts"]?.up(owners.db);
  await grantRights(owners.db);
  await expectTotals();
});
