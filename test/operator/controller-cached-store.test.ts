import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { finalizer, labels, type Resource } from "../../crds/resource.ts";
import { webhookKind, type WebhookSpec, type WebhookStatus } from "../../crds/webhook.ts";
import { Conflict, HeadwaterError } from "../../domain/errors.ts";
import { CachedStore } from "../../operator/controller/cached-store.ts";
import { Informer } from "../../operator/controller/informer.ts";
import { MemoryStore } from "./memory-store.ts";

const namespace = "hw-u-1";
const names = ["a", "b"] as const;
type Name = (typeof names)[number];
type Webhook = Resource<WebhookSpec, WebhookStatus>;

const specOf = (n: number): WebhookSpec => ({ url: `https://example.com/${n}`, active: true, signingKeys: [] });
const turn = () => new Promise((resolve) => setImmediate(resolve));

interface Act {
  readonly who: "own" | "foreign";
  readonly does: "create" | "update" | "status" | "delete" | "finalize" | "release" | "end";
  readonly name: Name;
  /** By how many versions the watch advances afterwards, and whether it is lost. */
  readonly advances: number;
  readonly loses: boolean;
  readonly turns: number;
}

const act: fc.Arbitrary<Act> = fc.record({
  who: fc.constantFrom("own", "own", "foreign"),
  does: fc.constantFrom("create", "update", "status", "delete", "finalize", "release", "end"),
  name: fc.constantFrom(...names),
  advances: fc.constantFrom(0, 0, 0, 1, 2, 100),
  loses: fc.constantFrom(false, false, false, false, true),
  turns: fc.integer({ min: 0, max: 6 }),
});

async function perform({ does, name }: Pick<Act, "does" | "name">, store: MemoryStore | CachedStore, n: number): Promise<void> {
  if (does === "create")
    return void (await store.create(webhookKind, { name, namespace, spec: specOf(n), labels: { [labels.id]: `wh_${name}` } }));
  if (does === "end") {
    for (const step of ["finalize", "delete", "release"] as const) await perform({ does: step, name }, store, n);
    return;
  }
  if (does === "delete") return store.delete(webhookKind, namespace, name);
  const current = await store.get(webhookKind, namespace, name);
  if (does === "status") return void (await store.updateStatus(webhookKind, { ...current, status: { observedGeneration: n } }));
  const { metadata } = current;
  const finalizers = does === "finalize" ? [finalizer] : does === "release" ? [] : metadata.finalizers;
  await store.update(webhookKind, {
    ...current,
    spec: does === "update" ? specOf(n) : current.spec,
    metadata: { ...metadata, finalizers },
  });
}

/** From when to when a name was what it was: `undefined` while it was absent. */
function livesOf(
  store: MemoryStore,
  name: Name,
): { readonly from: number; readonly until: number; readonly version: string | undefined }[] {
  const changes = store.log.filter(({ resource }) => resource.metadata.name === name);
  return [{ version: 0, absent: true }, ...changes.map(({ version, type }) => ({ version, absent: type === "deleted" }))].map(
    ({ version, absent }, index) => ({
      from: version,
      until: changes[index]?.version ?? Number.POSITIVE_INFINITY,
      version: absent ? undefined : String(version),
    }),
  );
}

function cached(store: MemoryStore): { reader: CachedStore; informer: Informer<WebhookSpec, WebhookStatus> } {
  const informer = new Informer(store, webhookKind, { onError: () => undefined });
  const reader = new CachedStore(store);
  reader.cache(informer);
  return { reader, informer };
}

describe("a store read from caches", () => {
  /**
   * Method: own and foreign writes, deletions and finalizers in any order, a watch that is late or lost at any moment, and after
   * each of them a read of every name. The oracle is the store's own log: what is read must have been true at some time not
   * before the last own write, nor before what was read before.
   */
  it("never reads a version older than its last write or read, however late the watch is", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 25 }), async (acts) => {
        const store = new MemoryStore();
        store.pageSize = 1;
        store.advanceWatches(0);
        const { reader, informer } = cached(store);
        await informer.start();
        const floor: Record<Name, number> = { a: 0, b: 0 };
        const check = async (): Promise<void> => {
          for (const name of names) {
            // At the same time: the watch may advance between two reads.
            const [read, byId] = await Promise.all([reader.find(webhookKind, namespace, name), reader.findById(webhookKind, `wh_${name}`)]);
            expect(byId?.metadata.resourceVersion).toBe(read?.metadata.resourceVersion);
            const version = read?.metadata.resourceVersion;
            const life = livesOf(store, name).find((one) => one.version === version && one.until > floor[name]);
            expect(life, `${name} read as ${version ?? "absent"}, floor ${floor[name]}`).toBeDefined();
            floor[name] = Math.max(floor[name], life?.from ?? 0);
          }
        };
        for (const [n, one] of acts.entries()) {
          try {
            await perform(one, one.who === "own" ? reader : store, n);
            if (one.who === "own")
              floor[one.name] = Math.max(
                floor[one.name],
                store.log.findLast(({ resource }) => resource.metadata.name === one.name)?.version ?? 0,
              );
          } catch (error) {
            if (!(error instanceof HeadwaterError)) throw error;
          }
          await check();
          if (one.advances > 0) store.advanceWatches(Math.max(store.watchLimit, Math.min(store.version, store.watchLimit + one.advances)));
          if (one.loses) store.loseWatches();
          for (let i = 0; i < one.turns; i++) {
            await turn();
            await check();
          }
        }
        store.advanceWatches(Number.POSITIVE_INFINITY);
        await store.create(webhookKind, { name: "end", namespace, spec: specOf(0) });
        for (let i = 0; i < 2_000 && informer.version !== String(store.version); i++)
          await new Promise((resolve) => setTimeout(resolve, 1));
        expect(informer.version).toBe(String(store.version));
        for (const name of names)
          expect(await reader.find(webhookKind, namespace, name)).toEqual(await store.find(webhookKind, namespace, name));
        await informer.stop();
      }),
      { numRuns: 25 },
    );
  });

  it("finds the resource whose status has the id, not one with a copied label", async () => {
    const store = new MemoryStore();
    const carrying = { [labels.id]: "wh_a" };
    await store.create(webhookKind, { name: "a-copy", namespace: "others", spec: specOf(1), labels: carrying });
    const original = await store.create(webhookKind, { name: "original", namespace, spec: specOf(2), labels: carrying });
    await store.updateStatus(webhookKind, { ...original, status: { id: "wh_a" } });
    const { reader, informer } = cached(store);
    await informer.start();
    expect((await reader.findById(webhookKind, "wh_a"))?.metadata.name).toBe("original");
    await informer.stop();
  });

  it("reads without calls of the store", async () => {
    const store = new MemoryStore();
    await store.create(webhookKind, { name: "a", namespace, spec: specOf(1), labels: { [labels.id]: "wh_a" } });
    const { reader, informer } = cached(store);
    await informer.start();
    const before = { ...store.calls };
    expect(await reader.find(webhookKind, namespace, "a")).toMatchObject({ spec: specOf(1) });
    expect(await reader.findById(webhookKind, "wh_a")).toMatchObject({ spec: specOf(1) });
    expect(await reader.get(webhookKind, namespace, "a")).toMatchObject({ spec: specOf(1) });
    await expect(reader.get(webhookKind, namespace, "none")).rejects.toMatchObject({ status: 404 });
    expect({ ...store.calls, watch: 0 }).toEqual({ ...before, watch: 0 });
    await informer.stop();
  });

  it("reads the store after a conflict, so that the next attempt succeeds", async () => {
    const store = new MemoryStore();
    const old = await store.create(webhookKind, { name: "a", namespace, spec: specOf(1) });
    const { reader, informer } = cached(store);
    store.advanceWatches(store.version);
    await informer.start();
    await store.updateStatus(webhookKind, { ...old, status: { observedGeneration: 7 } });
    const stale: Webhook = await reader.get(webhookKind, namespace, "a");
    await expect(reader.update(webhookKind, { ...stale, spec: specOf(2) })).rejects.toBeInstanceOf(Conflict);
    const fresh = await reader.get(webhookKind, namespace, "a");
    expect(fresh.status).toEqual({ observedGeneration: 7 });
    await reader.update(webhookKind, { ...fresh, spec: specOf(2) });
    await informer.stop();
  });

  it("refuses writes while this process does not lead", async () => {
    const store = new MemoryStore();
    const reader = new CachedStore(store, () => {
      throw new Conflict("another leads");
    });
    await expect(reader.create(webhookKind, { name: "a", namespace, spec: specOf(1) })).rejects.toThrow("another leads");
    expect(store.calls.write).toBe(0);
  });
});
