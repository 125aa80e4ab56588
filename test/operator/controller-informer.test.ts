import { expect, it, vi } from "vitest";
import type { ResourceList } from "../../crds/resource-store.ts";
import { webhookKind, type WebhookSpec } from "../../crds/webhook.ts";
import { Unavailable } from "../../domain/errors.ts";
import { Informer } from "../../operator/controller/informer.ts";
import { ResourceIndex } from "../../operator/controller/resource-index.ts";
import { MemoryStore } from "./memory-store.ts";

const namespace = "hw-u-1";
const spec: WebhookSpec = { url: "https://example.com/", active: true, signingKeys: [] };
const make = (store: MemoryStore, name: string) => store.create(webhookKind, { name, namespace, spec });
const silent = { onError: () => undefined };

it("reports resources that were deleted while the watch was lost, and nothing twice", async () => {
  const store = new MemoryStore();
  for (const name of ["a", "b", "c"]) await make(store, name);
  const changes: string[] = [];
  const informer = new Informer(store, webhookKind, silent);
  informer.onChange(({ metadata }, deleted) => changes.push(`${deleted ? "-" : "+"}${metadata.name}`));
  await informer.start();
  store.advanceWatches(store.version);
  await store.delete(webhookKind, namespace, "b");
  store.loseWatches();
  await vi.waitFor(() => expect(changes).toEqual(["+a", "+b", "+c", "-b"]), { timeout: 120_000 });
  store.advanceWatches(Number.POSITIVE_INFINITY);
  await make(store, "d");
  await vi.waitFor(() => expect(changes).toEqual(["+a", "+b", "+c", "-b", "+d"]), { timeout: 120_000 });
  await informer.stop();
});

it("retries the first list until the timeout, and then throws the last error", async () => {
  const store = new MemoryStore();
  store.failure = new Unavailable("the API is away");
  const waiting = new Informer(store, webhookKind, silent);
  const started = waiting.start();
  await vi.waitFor(() => expect(store.calls.list).toBeGreaterThan(0), { timeout: 120_000 });
  expect(waiting.hasSynced).toBe(false);
  store.failure = undefined;
  await started;
  expect(waiting.hasSynced).toBe(true);
  await waiting.stop();
  store.failure = new Unavailable("the API is away");
  const hasty = new Informer(store, webhookKind, { ...silent, syncTimeoutMs: 50 });
  await expect(hasty.start()).rejects.toThrow("webhooks could not be listed: no page within 50 ms: the API is away");
});

it("waits for each page of the first list, however long the list takes", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const store = new MemoryStore();
    const page = { items: [], resourceVersion: "0" };
    let resolvePage: (page: ResourceList<never, never>) => void = () => undefined;
    const list = () => new Promise<ResourceList<never, never>>((resolve) => (resolvePage = resolve));
    const informer = new Informer(Object.assign(store, { list }), webhookKind, silent);
    const started = informer.start();
    for (const rest of [{ continue: "2" }, { continue: "3" }, {}]) {
      await vi.advanceTimersByTimeAsync(90_000);
      resolvePage({ ...page, ...rest });
    }
    await started;
    expect(informer.hasSynced).toBe(true);
    const stopped = informer.stop();
    await vi.advanceTimersByTimeAsync(90_000);
    await stopped;
  } finally {
    vi.useRealTimers();
  }
});

it("lists again after the store was restored from a backup", async () => {
  const store = new MemoryStore();
  for (const name of ["a", "b", "c"]) await make(store, name);
  const informer = new Informer(store, webhookKind, silent);
  await informer.start();
  store.restoreEmpty();
  await make(store, "a");
  await vi.waitFor(() => expect([...informer.keys()]).toEqual([`${namespace}/a`]), { timeout: 120_000 });
  expect(informer.get(`${namespace}/a`)?.metadata.resourceVersion).toBe("1");
  await informer.stop();
});

it("keeps indices by several values", async () => {
  const store = new MemoryStore();
  const informer = new Informer(store, webhookKind, silent);
  const index = new ResourceIndex(informer, ({ metadata }) => Object.values(metadata.labels));
  await store.create(webhookKind, { name: "a", namespace, spec, labels: { x: "1", y: "2" } });
  await informer.start();
  expect([index.keys("1"), index.keys("2"), index.keys("3")]).toEqual([[`${namespace}/a`], [`${namespace}/a`], []]);
  const a = await store.get(webhookKind, namespace, "a");
  await store.update(webhookKind, { ...a, metadata: { ...a.metadata, labels: { y: "2", z: "3" } } });
  await vi.waitFor(
    () => expect([index.keys("1"), index.keys("2"), index.keys("3")]).toEqual([[], [`${namespace}/a`], [`${namespace}/a`]]),
    { timeout: 120_000 },
  );
  await store.delete(webhookKind, namespace, "a");
  await vi.waitFor(() => expect([index.keys("2"), index.keys("3")]).toEqual([[], []]), { timeout: 120_000 });
  await informer.stop();
});
