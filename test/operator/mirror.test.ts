import { expect, it, vi } from "vitest";
import type { ResourceStore } from "../../crds/resource-store.ts";
import { webhookKind, type WebhookSpec } from "../../crds/webhook.ts";
import { systemClock } from "../../domain/clock.ts";
import { Unavailable } from "../../domain/errors.ts";
import { Informer } from "../../operator/controller/informer.ts";
import { Mirror } from "../../operator/mirror/mirror.ts";
import type { Mirrored, MirrorRows } from "../../operator/mirror/rows.ts";
import { MemoryStore } from "./memory-store.ts";

const namespace = "hw-u-1";
const spec: WebhookSpec = { url: "https://example.com/", active: true, signingKeys: [] };
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** A table that goes by versions, like the real one, and is away when a test wants it. */
class MemoryRows implements MirrorRows {
  away = false;
  readonly states = new Map<string, Mirrored & { readonly gone: boolean }>();

  async write(...[present, gone]: Parameters<MirrorRows["write"]>): Promise<void> {
    if (this.away) throw new Unavailable("the database is away");
    for (const { kind, metadata } of present) this.#put({ ...metadata, kind, gone: false });
    for (const state of gone) this.#put({ ...state, gone: true });
  }

  async known(): Promise<ReadonlyMap<string, Mirrored>> {
    return new Map([...this.states].filter(([, { gone }]) => !gone));
  }

  async forget(): Promise<void> {
    this.states.clear();
  }

  #put(state: Mirrored & { readonly gone: boolean }): void {
    const key = `${state.namespace}/${state.name}`;
    const before = this.states.get(key);
    if (before === undefined || Number(before.resourceVersion) < Number(state.resourceVersion)) this.states.set(key, state);
  }
}

it("drops pending writes after the cluster was restored from a backup", async () => {
  const [store, rows] = [new MemoryStore(), new MemoryRows()];
  const make = (name: string) => store.create(webhookKind, { name, namespace, spec });
  for (const name of ["kept", "lost"]) await make(name);
  const informer = new Informer(store, webhookKind, { onError: () => undefined });
  const mirror = new Mirror({ store, rows, clock: systemClock, log: silent });
  mirror.watch(informer);
  await informer.start();
  const stop = new AbortController();
  const led = mirror.lead(stop.signal);
  const shown = async () => [...(await rows.known()).values()].map(({ name, resourceVersion }) => `${name} ${resourceVersion}`).toSorted();
  await vi.waitFor(async () => expect(await shown()).toEqual(["kept 1", "lost 2"]), { timeout: 120_000 });

  rows.away = true;
  for (const name of ["kept", "lost"])
    await store.updateStatus(webhookKind, { ...(await store.get(webhookKind, namespace, name)), status: { observedGeneration: 1 } });
  await vi.waitFor(() => expect(mirror.pending).toBe(2), { timeout: 120_000 });
  store.restoreEmpty();
  await make("kept");
  await vi.waitFor(() => expect([...informer.values()].map(({ metadata }) => metadata.resourceVersion)).toEqual(["1"]), {
    timeout: 120_000,
  });
  rows.away = false;
  await vi.waitFor(async () => expect([await shown(), mirror.pending]).toEqual([["kept 1"], 0]), { timeout: 120_000 });
  stop.abort();
  await led;
  await informer.stop();
});

it("writes thousands of missing resources from the cache, without a request for each", async () => {
  const [store, rows] = [new MemoryStore(), new MemoryRows()];
  const names = Array.from({ length: 3_000 }, (_, index) => `webhook-${index}`);
  for (const name of names) await store.create(webhookKind, { name, namespace, spec });
  const informer = new Informer(store, webhookKind, { onError: () => undefined });
  let lists = 0;
  const list: ResourceStore["list"] = (...given) => {
    lists++;
    return store.list(...given);
  };
  const mirror = new Mirror({ store: { list }, rows, clock: systemClock, log: silent });
  mirror.watch(informer);
  await informer.start();
  const stop = new AbortController();
  const led = mirror.lead(stop.signal);
  await vi.waitFor(async () => expect((await rows.known()).size).toBe(names.length), { timeout: 120_000 });
  expect(lists).toBe(1);
  stop.abort();
  await led;
  await informer.stop();
});
