import { describe, expect, test } from "vitest";
import { subscriptionKind } from "../../../crds/subscription.ts";
import type { Resource } from "../../../crds/resource.ts";
import { createDatabase } from "../../../platform/postgres/connection.ts";
import { migrate } from "../../../platform/postgres/migrations/migrations.ts";
import { createPostgresResourceStore } from "../../../platform/postgres/resources/resource-store.ts";
import { pruneTombstones } from "../../../platform/postgres/resources/prune.ts";
import { resourceStoreConformance } from "../../conformance/resource-store.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { withDatabase } from "./support.ts";

const postgres = withMigratedPostgres();
const database = withDatabase("operator", postgres);
let count = 0;

const make = async () => ({
  store: createPostgresResourceStore(database, { timing: { bookmarkMs: 50, pollMs: 5_000 } }),
  namespace: `ns-${count++}-${process.pid}00000`,
});
const spec = { emitter: "dc_a", listener: "wh_a", channel: "" };

describe("the resource store on Postgres", () => {
  resourceStoreConformance(make);

  test("lists are newest first", async () => {
    const { store, namespace } = await make();
    for (const name of ["b", "a", "c"]) await store.create(subscriptionKind, { name, namespace, spec });
    const { items } = await store.list(subscriptionKind, { namespace });
    expect(items.map((item) => item.metadata.name)).toEqual(["c", "a", "b"]);
  });

  test("a resource is deleted with its last owner, and kept while another owner exists", async () => {
    const { store, namespace } = await make();
    const create = (name: string, owners: readonly Resource[] = [], finalizers: readonly string[] = []) => {
      const ownerReferences = owners.map(({ apiVersion, kind, metadata }) => ({
        apiVersion,
        kind,
        name: metadata.name,
        uid: metadata.uid,
      }));
      return store.create(subscriptionKind, { name, namespace, spec, finalizers, ...(owners.length === 0 ? {} : { ownerReferences }) });
    };
    const owner = await create("owner", [], ["headwater.dev/cleanup"]);
    const other = await create("other");
    const child = await create("child", [owner]);
    await create("grandchild", [child]);
    await create("shared", [owner, other]);
    await create("slow", [owner], ["headwater.dev/cleanup"]);
    await store.delete(subscriptionKind, namespace, "owner");
    expect((await store.list(subscriptionKind, { namespace })).items).toHaveLength(6);
    const ending = await store.get(subscriptionKind, namespace, "owner");
    await store.update(subscriptionKind, { ...ending, metadata: { ...ending.metadata, finalizers: [] } });
    const left = (await store.list(subscriptionKind, { namespace })).items;
    expect(left.map(({ metadata }) => metadata.name).toSorted()).toEqual(["other", "shared", "slow"]);
    expect(left.find(({ metadata }) => metadata.name === "slow")?.metadata.deletionTimestamp).toBeDefined();
    await store.delete(subscriptionKind, namespace, "other");
    expect(await store.find(subscriptionKind, namespace, "shared")).toBeUndefined();
  });

  test("changes of other kinds advance a watch with bookmarks", async () => {
    const { store, namespace } = await make();
    const { resourceVersion } = await store.list(subscriptionKind, { namespace });
    const fast = createPostgresResourceStore(database, { timing: { bookmarkMs: 0, pollMs: 10 } });
    await postgres.client.query("update resource_head set version = version + 5");
    for await (const event of fast.watch(subscriptionKind, resourceVersion, AbortSignal.timeout(120_000))) {
      expect(event).toEqual({ type: "bookmark", resourceVersion: String(Number(resourceVersion) + 5) });
      break;
    }
  });

  test("a watch from before pruned deletions, or from a lost future version, throws Gone", async () => {
    const { store, namespace } = await make();
    const { resourceVersion } = await store.list(subscriptionKind, { namespace });
    await store.create(subscriptionKind, { name: "sub-1", namespace, spec });
    await store.delete(subscriptionKind, namespace, "sub-1");
    await pruneTombstones(database.db, { keepMs: 0, keepCount: 0 });
    const first = async (version: string) => {
      for await (const event of store.watch(subscriptionKind, version, AbortSignal.timeout(120_000))) return event;
      return undefined;
    };
    await expect(first(resourceVersion)).rejects.toMatchObject({ code: "gone", status: 410 });
    await expect(first("999999999")).rejects.toMatchObject({ code: "gone" });
    await expect(first("abc")).rejects.toMatchObject({ status: 422 });
  });

  test("tombstones are pruned to the newest", async () => {
    const { store, namespace } = await make();
    for (const n of [1, 2, 3]) {
      await store.create(subscriptionKind, { name: `sub-${n}`, namespace, spec });
      await store.delete(subscriptionKind, namespace, `sub-${n}`);
    }
    await pruneTombstones(database.db, { keepMs: 3_600_000, keepCount: 2 });
    const { rows } = await postgres.client.query("select name from resource_tombstones order by resource_version");
    expect(rows).toEqual([{ name: "sub-2" }, { name: "sub-3" }]);
  });

  test("an error names the path and never the value", async () => {
    const { store, namespace } = await make();
    const secret = { emitter: { key: "whsec_dont_tell" }, listener: "x", channel: "" };
    // As a REST body could be.
    const error: Error = await store.create(subscriptionKind, { name: "sub-1", namespace, spec: secret as never }).then(
      () => new Error("accepted"),
      (refusal: Error) => refusal,
    );
    expect(error.message).toContain("spec.emitter");
    expect(JSON.stringify(error) + error.message).not.toContain("whsec_dont_tell");
  });
});

describe("the connection", () => {
  test("concurrent processes can all migrate", async () => {
    await postgres.client.query("create database together");
    const url = new URL(postgres.url);
    url.pathname = "/together";
    const processes = Array.from({ length: 5 }, () => createDatabase({ url: url.href }));
    try {
      await Promise.all(processes.map(({ db }) => migrate(db)));
      const { rows } = await postgres.client.query("select 1 from pg_database where datname = 'together'");
      expect(rows).toHaveLength(1);
    } finally {
      await Promise.all(processes.map((each) => each.close()));
      await postgres.client.query("drop database together with (force)");
    }
  });

  test("an unreachable Postgres throws Unavailable", async () => {
    const nowhere = createDatabase({ url: "postgres://someone:secret-word@127.0.0.1:1/none" });
    const store = createPostgresResourceStore(nowhere);
    const error: Error = await store.find(subscriptionKind, "ns", "n").then(
      () => new Error("answered"),
      (refusal: Error) => refusal,
    );
    expect(error).toMatchObject({ code: "database_unavailable", status: 503 });
    expect(error.message).not.toContain("secret-word");
    await nowhere.close();
  });

  test("statements fail as Unavailable while connections are killed, and succeed again", async () => {
    const { store, namespace } = await make();
    await store.create(subscriptionKind, { name: "sub-1", namespace, spec });
    await postgres.client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    );
    const deadline = Date.now() + 120_000;
    const read = async (): Promise<string> => {
      try {
        return (await store.get(subscriptionKind, namespace, "sub-1")).metadata.name;
      } catch (error) {
        expect(error).toMatchObject({ code: "database_unavailable" });
        if (Date.now() > deadline) throw error;
        return read();
      }
    };
    expect(await read()).toBe("sub-1");
  });
});
