import { describe, expect, test } from "vitest";
import { labels, type Resource } from "../../crds/resource.ts";
import type { ResourceStore, WatchEvent } from "../../crds/resource-store.ts";
import { runnerPoolKind } from "../../crds/runner-pool.ts";
import { accountKind } from "../../crds/account.ts";
import { componentKind } from "../../crds/component.ts";
import { sourceKind } from "../../crds/source.ts";
import { subscriptionKind, type SubscriptionSpec, type SubscriptionStatus } from "../../crds/subscription.ts";

export interface StoreUnderTest {
  readonly store: ResourceStore;
  /** A namespace that exists and that no other test uses. */
  readonly namespace: string;
}

type Subscription = Resource<SubscriptionSpec, SubscriptionStatus>;
type Event = WatchEvent<SubscriptionSpec, SubscriptionStatus>;

const spec: SubscriptionSpec = { emitter: "dc_a", listener: "wh_a", channel: "" };

/** What every ResourceStore does, whatever it stands on. `make` is called once per test. */
export function resourceStoreConformance(make: () => Promise<StoreUnderTest>): void {
  describe("reading and writing", () => {
    test("a created resource starts with generation 1, an empty status and what it was given", async () => {
      const { store, namespace } = await make();
      const created = await store.create(subscriptionKind, {
        name: "sub-1",
        namespace,
        spec,
        labels: { team: "red" },
        annotations: { note: "hello" },
        finalizers: ["headwater.dev/cleanup"],
      });
      expect(created).toMatchObject({
        apiVersion: "headwater.dev/v1alpha1",
        kind: "Subscription",
        spec,
        metadata: {
          name: "sub-1",
          namespace,
          generation: 1,
          labels: { team: "red" },
          annotations: { note: "hello" },
          finalizers: ["headwater.dev/cleanup"],
        },
      });
      expect(created.status ?? {}).toEqual({});
      expect(created.metadata.uid).not.toBe("");
      expect(Number.isNaN(Date.parse(created.metadata.creationTimestamp))).toBe(false);
      expect(await store.get(subscriptionKind, namespace, "sub-1")).toEqual(created);
    });

    test("a name is taken once per kind and namespace", async () => {
      const { store, namespace } = await make();
      await store.create(subscriptionKind, { name: "sub-1", namespace, spec });
      await expect(store.create(subscriptionKind, { name: "sub-1", namespace, spec })).rejects.toMatchObject({
        status: 409,
      });
      await store.create(componentKind, { name: "sub-1", namespace, spec: { code: "x" } });
    });

    test("get throws NotFound where find returns undefined", async () => {
      const { store, namespace } = await make();
      await expect(store.get(subscriptionKind, namespace, "none")).rejects.toMatchObject({ status: 404 });
      expect(await store.find(subscriptionKind, namespace, "none")).toBeUndefined();
      expect(await store.findById(subscriptionKind, "sub_none")).toBeUndefined();
    });

    test("a resource is found by its public id", async () => {
      const { store, namespace } = await make();
      const id = `sub_${namespace.slice(-8)}`;
      const created = await store.create(subscriptionKind, {
        name: "sub-1",
        namespace,
        spec,
        labels: { [labels.id]: id },
      });
      expect(await store.findById(subscriptionKind, id)).toEqual(created);
      expect(await store.findById(componentKind, id)).toBeUndefined();
    });

    test("of several with the id as label, the one whose status has it is found; without one, none of several", async () => {
      const { store, namespace } = await make();
      const id = `sub_claimed${namespace.slice(-8)}`;
      const create = (name: string) => store.create(subscriptionKind, { name, namespace, spec, labels: { [labels.id]: id } });
      const planted = await create("sub-planted");
      const real = await create("sub-real");
      expect(await store.findById(subscriptionKind, id)).toBeUndefined();
      const assigned = await store.updateStatus(subscriptionKind, { ...real, status: { id } });
      expect(await store.findById(subscriptionKind, id)).toEqual(assigned);
      await store.updateStatus(subscriptionKind, { ...planted, status: { id: "sub_other" } });
      expect(await store.findById(subscriptionKind, id)).toEqual(assigned);
      await store.delete(subscriptionKind, namespace, "sub-real");
      expect(await store.findById(subscriptionKind, id)).toBeUndefined();
    });

    test("a spec that breaks its schema is refused with the path", async () => {
      const { store, namespace } = await make();
      const broken = { emitter: "dc_a", listener: 7, channel: "" };
      // The type says what a REST body or a user of kubectl does not promise.
      await expect(store.create(subscriptionKind, { name: "sub-1", namespace, spec: broken as never })).rejects.toMatchObject({
        status: 422,
        message: expect.stringContaining("spec.listener"),
      });
      await expect(store.create(subscriptionKind, { name: "Not A Name", namespace, spec })).rejects.toMatchObject({
        status: 422,
      });
    });

    test("any text survives in a spec", async () => {
      const { store, namespace } = await make();
      const code = "const zero = '\u0000', pair = '😀', quote = '\"\\'";
      await store.create(componentKind, { name: "c-1", namespace, spec: { code } });
      expect((await store.get(componentKind, namespace, "c-1")).spec.code).toBe(code);
    });

    test("a resource without a schema's optional fields keeps them away", async () => {
      const { store, namespace } = await make();
      const created = await store.create(componentKind, { name: "c-1", namespace, spec: { code: "x" } });
      expect(Object.keys(created.spec)).toEqual(["code"]);
    });
  });

  describe("changing", () => {
    test("a changed spec grows the generation; changed labels, finalizers and status do not", async () => {
      const { store, namespace } = await make();
      const first = await store.create(subscriptionKind, { name: "sub-1", namespace, spec });
      const second = await store.update(subscriptionKind, { ...first, spec: { ...spec, channel: "c" } });
      expect(second.metadata.generation).toBe(2);
      const third = await store.update(subscriptionKind, relabelled(second, { team: "blue" }));
      expect(third.metadata).toMatchObject({ generation: 2, labels: { team: "blue" } });
      const fourth = await store.updateStatus(subscriptionKind, { ...third, status: { observedGeneration: 2 } });
      expect(fourth).toMatchObject({ status: { observedGeneration: 2 }, metadata: { generation: 2 } });
    });

    test("any JSON survives a change, null too", async () => {
      const { store, namespace } = await make();
      const props = { none: null, deep: { none: null, list: [null, 1, {}] }, "": "", "a/b~c": true };
      const given = sourceKind.spec.parse({ code: "x", props: { first: 1 } });
      const created = await store.create(sourceKind, { name: "dc-1", namespace, spec: given });
      const changed = await store.update(sourceKind, { ...created, spec: { ...created.spec, props } });
      expect(changed.spec.props).toEqual(props);
      const again = await store.update(sourceKind, { ...changed, spec: { ...changed.spec, props: { none: null } } });
      expect(again).toMatchObject({ metadata: { generation: 3 } });
      expect((await store.get(sourceKind, namespace, "dc-1")).spec.props).toEqual({ none: null });
    });

    test("labels and annotations that are left out are removed", async () => {
      const { store, namespace } = await make();
      const both = { a: "1", "example.com/b": "2" };
      const first = await store.create(subscriptionKind, { name: "sub-1", namespace, spec, labels: both, annotations: both });
      const metadata = { ...first.metadata, labels: { a: "2" }, annotations: {} };
      const second = await store.update(subscriptionKind, { ...first, metadata });
      expect(second.metadata).toMatchObject({ labels: { a: "2" }, annotations: {}, generation: 1 });
      expect(Object.keys(second.metadata.labels)).toEqual(["a"]);
    });

    test("a status of another form is refused", async () => {
      const { store, namespace } = await make();
      const first = await store.create(subscriptionKind, { name: "sub-1", namespace, spec });
      const status = { observedGeneration: "two" } as never; // As a mistake of ours could be.
      await expect(store.updateStatus(subscriptionKind, { ...first, status })).rejects.toMatchObject({
        status: 422,
        message: expect.stringContaining("status.observedGeneration"),
      });
    });

    test("update leaves the status alone, and updateStatus the spec", async () => {
      const { store, namespace } = await make();
      const first = await store.create(subscriptionKind, { name: "sub-1", namespace, spec });
      const second = await store.updateStatus(subscriptionKind, {
        ...first,
        spec: { ...spec, channel: "lost" },
        status: { id: "sub_1" },
      });
      expect(second).toMatchObject({ spec, status: { id: "sub_1" } });
      const third = await store.update(subscriptionKind, { ...second, spec: { ...spec, channel: "c" }, status: {} });
      expect(third).toMatchObject({ spec: { channel: "c" }, status: { id: "sub_1" } });
    });

    test("a stale version is a conflict for both kinds of update", async () => {
      const { store, namespace } = await make();
      const first = await store.create(subscriptionKind, { name: "sub-1", namespace, spec });
      await store.update(subscriptionKind, { ...first, spec: { ...spec, channel: "c" } });
      await expect(store.update(subscriptionKind, { ...first, spec: { ...spec, channel: "d" } })).rejects.toMatchObject({ status: 409 });
      await expect(store.updateStatus(subscriptionKind, { ...first, status: { id: "x" } })).rejects.toMatchObject({
        status: 409,
      });
    });

    test("an update that changes nothing keeps the version", async () => {
      const { store, namespace } = await make();
      const first = await store.create(subscriptionKind, { name: "sub-1", namespace, spec });
      expect((await store.update(subscriptionKind, first)).metadata.resourceVersion).toBe(first.metadata.resourceVersion);
      const updated = await store.updateStatus(subscriptionKind, { ...first, status: { id: "a" } });
      expect((await store.updateStatus(subscriptionKind, updated)).metadata.resourceVersion).toBe(updated.metadata.resourceVersion);
    });

    test("of writers that race from one version exactly one wins", async () => {
      const { store, namespace } = await make();
      const first = await store.create(subscriptionKind, { name: "sub-1", namespace, spec });
      const racers = Array.from({ length: 8 }, (_, n) => store.update(subscriptionKind, { ...first, spec: { ...spec, channel: `c${n}` } }));
      const settled = await Promise.allSettled(racers);
      expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect((await store.get(subscriptionKind, namespace, "sub-1")).metadata.generation).toBe(2);
    });

    test("a field that stays as it was created is refused with the reason, and another one is written", async () => {
      const { store, namespace } = await make();
      const first = await store.create(accountKind, { name: "apn-1", namespace, spec: { app: "github", credentials: {} } });
      const change = store.update(accountKind, { ...first, spec: { ...first.spec, app: "gitlab" } });
      await expect(change).rejects.toMatchObject({
        status: 422,
        message: expect.stringContaining("the app of an account cannot be changed"),
      });
      const named = await store.update(accountKind, { ...first, spec: { ...first.spec, name: "Mine" } });
      expect(named.spec).toMatchObject({ app: "github", name: "Mine" });
    });

    test("a rule over name and spec is refused with the reason", async () => {
      const { store, namespace } = await make();
      const source = { name: "n".repeat(59), namespace, spec: sourceKind.spec.parse({ code: "export default {}" }) };
      await expect(store.create(sourceKind, source)).rejects.toMatchObject({
        status: 422,
        message: expect.stringContaining("has at most 58 characters"),
      });
    });

    test("updating what is not there is NotFound", async () => {
      const { store, namespace } = await make();
      const first = await store.create(subscriptionKind, { name: "sub-1", namespace, spec });
      await store.delete(subscriptionKind, namespace, "sub-1");
      await expect(store.update(subscriptionKind, first)).rejects.toMatchObject({ status: 404 });
      await expect(store.updateStatus(subscriptionKind, first)).rejects.toMatchObject({ status: 404 });
    });
  });

  describe("deleting", () => {
    test("a resource without finalizers is gone at once", async () => {
      const { store, namespace } = await make();
      await store.create(subscriptionKind, { name: "sub-1", namespace, spec });
      await store.delete(subscriptionKind, namespace, "sub-1");
      expect(await store.find(subscriptionKind, namespace, "sub-1")).toBeUndefined();
      await expect(store.delete(subscriptionKind, namespace, "sub-1")).rejects.toMatchObject({ status: 404 });
    });

    test("a resource with finalizers stays, marked, until the last one is removed", async () => {
      const { store, namespace } = await make();
      await store.create(subscriptionKind, {
        name: "sub-1",
        namespace,
        spec,
        finalizers: ["headwater.dev/a", "headwater.dev/b"],
      });
      await store.delete(subscriptionKind, namespace, "sub-1");
      const marked = await store.get(subscriptionKind, namespace, "sub-1");
      expect(marked.metadata).toMatchObject({ generation: 2, deletionTimestamp: expect.any(String) });
      await store.delete(subscriptionKind, namespace, "sub-1");
      expect((await store.get(subscriptionKind, namespace, "sub-1")).metadata.resourceVersion).toBe(marked.metadata.resourceVersion);
      const half = await store.update(subscriptionKind, finalized(marked, ["headwater.dev/b"]));
      expect(half.metadata.finalizers).toEqual(["headwater.dev/b"]);
      await store.update(subscriptionKind, finalized(half, []));
      expect(await store.find(subscriptionKind, namespace, "sub-1")).toBeUndefined();
    });

    test("a name that was deleted can be taken again, with a new uid", async () => {
      const { store, namespace } = await make();
      const first = await store.create(subscriptionKind, { name: "sub-1", namespace, spec });
      await store.delete(subscriptionKind, namespace, "sub-1");
      const second = await store.create(subscriptionKind, { name: "sub-1", namespace, spec });
      expect(second.metadata.uid).not.toBe(first.metadata.uid);
      await expect(store.update(subscriptionKind, { ...first, spec: { ...spec, channel: "c" } })).rejects.toMatchObject({ status: 409 });
    });
  });

  describe("owning", () => {
    const ownerOf = ({ apiVersion, kind, metadata: { name, uid } }: Resource) => ({ apiVersion, kind, name, uid });

    test("owner references are kept as given, until others are given", async () => {
      const { store, namespace } = await make();
      const [first, second] = await Promise.all(["a", "b"].map((name) => store.create(subscriptionKind, { name, namespace, spec })));
      if (first === undefined || second === undefined) throw new Error("two were created");
      const ownerReferences = [{ ...ownerOf(first), controller: true, blockOwnerDeletion: true }];
      const owned = await store.create(componentKind, { name: "c-1", namespace, spec: { code: "x" }, ownerReferences });
      expect(owned.metadata.ownerReferences).toEqual(ownerReferences);
      const { ownerReferences: _, ...rest } = owned.metadata;
      const kept = await store.update(componentKind, { ...owned, metadata: rest, spec: { code: "y" } });
      expect(kept.metadata).toMatchObject({ ownerReferences, generation: 2 });
      const given = await store.update(componentKind, { ...kept, metadata: { ...kept.metadata, ownerReferences: [ownerOf(second)] } });
      expect(given.metadata).toMatchObject({ ownerReferences: [ownerOf(second)], generation: 2 });
      expect(await store.get(componentKind, namespace, "c-1")).toEqual(given);
    });

    test("a resource may own others and be deleted", async () => {
      const { store, namespace } = await make();
      const owner = await store.create(subscriptionKind, { name: "sub-1", namespace, spec });
      await store.create(componentKind, { name: "c-1", namespace, spec: { code: "x" }, ownerReferences: [ownerOf(owner)] });
      await store.delete(subscriptionKind, namespace, "sub-1");
      expect(await store.find(subscriptionKind, namespace, "sub-1")).toBeUndefined();
    });
  });

  describe("a kind of the cluster", () => {
    test("has resources without a namespace, and refuses one", async () => {
      const { store, namespace } = await make();
      const name = `pool-${namespace.slice(-12)}`;
      const poolSpec = runnerPoolKind.spec.parse({});
      const created = await store.create(runnerPoolKind, { name, namespace: "", spec: poolSpec });
      expect(created).toMatchObject({ kind: "RunnerPool", metadata: { name, namespace: "" } });
      expect(await store.get(runnerPoolKind, "", name)).toEqual(created);
      const { items } = await store.list(runnerPoolKind);
      expect(items).toContainEqual(created);
      const changed = await store.update(runnerPoolKind, { ...created, spec: { ...poolSpec, maxReplicas: 7 } });
      const updated = await store.updateStatus(runnerPoolKind, { ...changed, status: { replicas: 1 } });
      expect(updated).toMatchObject({ spec: { maxReplicas: 7 }, status: { replicas: 1 }, metadata: { generation: 2 } });
      await store.delete(runnerPoolKind, "", name);
      expect(await store.find(runnerPoolKind, "", name)).toBeUndefined();
      await expect(store.create(runnerPoolKind, { name, namespace, spec: poolSpec })).rejects.toMatchObject({ status: 422 });
    });
  });

  describe("listing", () => {
    test("a limit or a continue that cannot be is refused", async () => {
      const { store } = await make();
      for (const limit of [0, -1, 1.5, 1_001]) await expect(store.list(subscriptionKind, { limit })).rejects.toMatchObject({ status: 422 });
      await expect(store.list(subscriptionKind, { continue: "what" })).rejects.toMatchObject({ status: 422 });
    });

    test("pages hold every resource once and share one version", async () => {
      const { store, namespace } = await make();
      for (const n of [1, 2, 3, 4, 5, 6, 7]) await store.create(subscriptionKind, { name: `sub-${n}`, namespace, spec });
      const first = await store.list(subscriptionKind, { namespace, limit: 3 });
      const second = await store.list(subscriptionKind, { namespace, limit: 3, continue: first.continue ?? "" });
      const third = await store.list(subscriptionKind, { namespace, limit: 3, continue: second.continue ?? "" });
      expect(third.continue).toBeUndefined();
      const pages = [first, second, third];
      expect(pages.map((page) => page.items.length)).toEqual([3, 3, 1]);
      expect(new Set(pages.flatMap((page) => page.items.map((item) => item.metadata.name))).size).toBe(7);
      expect(new Set(pages.map((page) => page.resourceVersion)).size).toBe(1);
    });

    test("labels and namespace select", async () => {
      const { store, namespace } = await make();
      await store.create(subscriptionKind, {
        name: "sub-1",
        namespace,
        spec,
        labels: { team: "red", [labels.codeHash]: "abc" },
      });
      await store.create(subscriptionKind, { name: "sub-2", namespace, spec, labels: { team: "blue" } });
      const names = async (wanted: Record<string, string>): Promise<string[]> =>
        (await store.list(subscriptionKind, { namespace, labels: wanted })).items.map((item) => item.metadata.name);
      expect(await names({ team: "red" })).toEqual(["sub-1"]);
      expect(await names({ team: "red", [labels.codeHash]: "abc" })).toEqual(["sub-1"]);
      expect(await names({ [labels.codeHash]: "none" })).toEqual([]);
    });

    test("an empty list has a version from which a watch continues", async () => {
      const { store, namespace } = await make();
      const list = await store.list(subscriptionKind, { namespace });
      expect(list.items).toEqual([]);
      const changes = await changesAfter(
        store,
        list.resourceVersion,
        namespace,
        async () => {
          await store.create(subscriptionKind, { name: "sub-1", namespace, spec });
        },
        is("added", "sub-1"),
      );
      expect(changes).toMatchObject([{ type: "added" }]);
    });
  });

  describe("watching", () => {
    test("a watch reports changes in order, including earlier ones", async () => {
      const { store, namespace } = await make();
      const { resourceVersion } = await store.list(subscriptionKind, { namespace });
      await store.create(subscriptionKind, { name: "sub-1", namespace, spec });
      const changes = await changesAfter(
        store,
        resourceVersion,
        namespace,
        async () => {
          await store.create(subscriptionKind, { name: "sub-2", namespace, spec });
          await store.delete(subscriptionKind, namespace, "sub-1");
        },
        is("deleted", "sub-1"),
      );
      const names = changes.map((event) => event.type !== "bookmark" && event.resource.metadata.name);
      expect(names).toContain("sub-2");
      expect(changes.at(-1)).toMatchObject({ type: "deleted", resource: { spec } });
    });

    test("a watch continues from the version of any event", async () => {
      const { store, namespace } = await make();
      const { resourceVersion } = await store.list(subscriptionKind, { namespace });
      const first = await changesAfter(
        store,
        resourceVersion,
        namespace,
        async () => {
          await store.create(subscriptionKind, { name: "sub-1", namespace, spec });
        },
        is("added", "sub-1"),
      );
      await store.delete(subscriptionKind, namespace, "sub-1");
      const after = first[0]?.type === "added" ? first[0].resource.metadata.resourceVersion : "";
      const second = await changesAfter(
        store,
        after,
        namespace,
        async () => {
          await store.create(subscriptionKind, { name: "sub-2", namespace, spec });
        },
        is("added", "sub-2"),
      );
      expect(second.map(({ type }) => type)).toEqual(["deleted", "added"]);
    });

    test("a watch reports only its own kind", async () => {
      const { store, namespace } = await make();
      const { resourceVersion } = await store.list(subscriptionKind, { namespace });
      const changes = await changesAfter(
        store,
        resourceVersion,
        namespace,
        async () => {
          await store.create(componentKind, { name: "other", namespace, spec: { code: "x" } });
          await store.create(subscriptionKind, { name: "sub-1", namespace, spec });
        },
        is("added", "sub-1"),
      );
      expect(changes).toMatchObject([{ resource: { kind: "Subscription", metadata: { name: "sub-1" } } }]);
    });

    test("a watch ends when its signal aborts", async () => {
      const { store, namespace } = await make();
      const { resourceVersion } = await store.list(subscriptionKind, { namespace });
      const abort = new AbortController();
      const watching = drain(store.watch(subscriptionKind, resourceVersion, abort.signal));
      abort.abort();
      await expect(watching).resolves.not.toThrow();
    });
  });
}

const relabelled = (resource: Subscription, wanted: Record<string, string>): Subscription => ({
  ...resource,
  metadata: { ...resource.metadata, labels: wanted },
});
const finalized = (resource: Subscription, finalizers: readonly string[]): Subscription => ({
  ...resource,
  metadata: { ...resource.metadata, finalizers },
});

async function drain(events: AsyncIterable<Event>): Promise<void> {
  for await (const _ of events);
}

/** The changes of one namespace after a version, up to the one that `last` knows; `act` runs while the watch is open. */
async function changesAfter(
  store: ResourceStore,
  version: string,
  namespace: string,
  act: () => Promise<void>,
  last: (event: Event) => boolean,
): Promise<Event[]> {
  const changes: Event[] = [];
  const acting = act();
  for await (const event of store.watch(subscriptionKind, version, AbortSignal.timeout(120_000))) {
    if (event.type === "bookmark" || event.resource.metadata.namespace !== namespace) continue;
    changes.push(event);
    if (last(event)) break;
  }
  await acting;
  return changes;
}

const is =
  (type: Event["type"], name: string) =>
  (event: Event): boolean =>
    event.type === type && event.type !== "bookmark" && event.resource.metadata.name === name;
