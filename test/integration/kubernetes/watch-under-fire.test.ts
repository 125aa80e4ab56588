import fc from "fast-check";
import { expect, test } from "vitest";
import { componentKind } from "../../../crds/component.ts";
import type { ResourceStore, WatchEvent } from "../../../crds/resource-store.ts";
import type { Kind, Resource } from "../../../crds/resource.ts";
import { subscriptionKind } from "../../../crds/subscription.ts";
import { Gone, HeadwaterError, Unavailable } from "../../../domain/errors.ts";
import { connectKubernetes } from "../../../platform/kubernetes/access/connection.ts";
import { readKubeconfig } from "../../../platform/kubernetes/access/kubeconfig.ts";
import { createKubernetesResourceStore } from "../../../platform/kubernetes/resources/resource-store.ts";
import { startProxy, type CuttableProxy } from "../../support/cuttable-proxy.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";
import { whenever, withKubernetes } from "./support.ts";

const kube = await withKubeApi({ own: true });
const kubernetes = withKubernetes(kube);
const spec = { emitter: "dc_a", listener: "wh_a", channel: "" };

type State = Map<string, Resource>;

/** The state of a client that lists once and then watches. After Gone or a failed list it lists again. */
function follow(
  store: ResourceStore,
  kind: Kind,
  namespace: string,
  each: (event: WatchEvent<unknown, unknown>) => unknown = () => undefined,
) {
  const state: State = new Map();
  const stop = new AbortController();
  let lists = 0;
  const once = async (): Promise<void> => {
    const fresh: State = new Map();
    let next: string | undefined;
    let version = "";
    do {
      const page = await store.list(kind, { limit: 3, namespace, ...(next === undefined ? {} : { continue: next }) });
      for (const item of page.items) fresh.set(item.metadata.name, item);
      version = page.resourceVersion;
      next = page.continue;
    } while (next !== undefined);
    state.clear();
    for (const [name, item] of fresh) state.set(name, item);
    lists++;
    for await (const event of store.watch(kind, version, stop.signal)) {
      await each(event);
      if (event.type === "bookmark" || event.resource.metadata.namespace !== namespace) continue;
      if (event.type === "deleted") state.delete(event.resource.metadata.name);
      else state.set(event.resource.metadata.name, event.resource);
    }
  };
  const running = (async () => {
    while (!stop.signal.aborted) {
      await once().catch((error: unknown) => {
        if (!(error instanceof Gone || error instanceof Unavailable)) throw error;
      });
    }
  })();
  return {
    state,
    lists: () => lists,
    async end() {
      stop.abort();
      await running;
    },
  };
}

async function expectSame(store: ResourceStore, kind: Kind, namespace: string, state: State): Promise<void> {
  const { items } = await store.list(kind, { namespace });
  const truth = new Map(items.map((item) => [item.metadata.name, item]));
  await whenever(
    () =>
      state.size === truth.size &&
      [...truth].every(([name, { metadata }]) => state.get(name)?.metadata.resourceVersion === metadata.resourceVersion),
    "the watcher has the state of a list",
  );
  expect(new Map([...state].toSorted())).toEqual(new Map([...truth].toSorted()));
}

async function eventsOf(watching: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  const events = [];
  for await (const event of watching) events.push(event);
  return events;
}

type Act = "create" | "update" | "status" | "delete" | "release";
const acts: fc.Arbitrary<Act> = fc.constantFrom("create", "create", "update", "status", "delete", "release");
const step = fc.record({ act: acts, name: fc.constantFrom("a", "b", "c", "d", "e", "f"), text: fc.stringMatching(/^[a-z]{1,4}$/) });
type Step = { readonly act: Act; readonly name: string; readonly text: string };

/** Losing a race, or the server, is expected; any other error is not. */
const expected = new Set(["conflict", "already_exists", "not_found", "kubernetes_unavailable"]);

async function play(store: ResourceStore, namespace: string, steps: readonly Step[], until: () => boolean): Promise<number> {
  let played = 0;
  while (!until()) {
    for (const each of steps) {
      await apply(store, namespace, each).catch((error: unknown) => {
        if (!(error instanceof HeadwaterError) || !expected.has(error.code)) throw error;
      });
      played++;
      if (until()) break;
    }
  }
  return played;
}

async function apply(store: ResourceStore, namespace: string, { act, name, text }: Step): Promise<void> {
  const changed = { ...spec, channel: text };
  const finalizers = text < "m" ? ["headwater.dev/cleanup"] : [];
  if (act === "create") return void (await store.create(subscriptionKind, { name, namespace, spec: changed, finalizers }));
  if (act === "delete") return store.delete(subscriptionKind, namespace, name);
  const found = await store.get(subscriptionKind, namespace, name);
  if (act === "update") await store.update(subscriptionKind, { ...found, spec: changed });
  if (act === "status") await store.updateStatus(subscriptionKind, { ...found, status: { id: text } });
  if (act === "release") await store.update(subscriptionKind, { ...found, metadata: { ...found.metadata, finalizers: [] } });
}

async function throughProxy(options: { watchSilenceMs?: number } = {}) {
  const proxy = await startProxy(Number(new URL(kube.access.url).port));
  const access = { ...(await readKubeconfig(kube.kubeconfigPath)), server: `https://127.0.0.1:${proxy.port}` };
  // Short, since the connection may also be lost while a watch is being reopened.
  const connection = await connectKubernetes({ access, timeoutMs: 2_000, ...options });
  const interrupted: HeadwaterError[] = [];
  const store = createKubernetesResourceStore(connection, { onWatchInterrupted: (_kind, error) => interrupted.push(error) });
  const end = async (): Promise<void> => {
    await connection.close();
    await proxy.close();
  };
  return { proxy, store, interrupted, end };
}

kube.describe("a watch of Kubernetes under fire", () => {
  test("a watcher ends with the state that a list returns, though writers race and the API server is killed", async () => {
    const namespace = await kube.namespace();
    const store = createKubernetesResourceStore(kubernetes());
    const watching = [follow(store, subscriptionKind, namespace), follow(store, subscriptionKind, namespace)];
    const scripts = fc.sample(fc.array(step, { minLength: 20, maxLength: 40 }), { numRuns: 3 });
    let isOver = false;
    const playing = scripts.map((steps) => play(store, namespace, steps, () => isOver));
    for (const how of ["kill", "stop"] as const) {
      const before = await store.list(subscriptionKind, { limit: 1 });
      await whenever(
        async () => (await store.list(subscriptionKind, { limit: 1 })).resourceVersion !== before.resourceVersion,
        "they write",
      );
      await kube.stopServer(how);
      await kube.startServer();
    }
    isOver = true;
    const played = await Promise.all(playing);
    expect(Math.min(...played)).toBeGreaterThan(0);
    for (const each of watching) await expectSame(store, subscriptionKind, namespace, each.state);
    await Promise.all(watching.map((each) => each.end()));
  });

  test("a watch and a list from a compacted version throw Gone", async () => {
    const namespace = await kube.namespace();
    const store = createKubernetesResourceStore(kubernetes());
    for (const name of ["a", "b", "c"]) await store.create(subscriptionKind, { name, namespace, spec });
    const first = await store.list(subscriptionKind, { namespace, limit: 1 });
    await store.delete(subscriptionKind, namespace, "c");
    const { resourceVersion } = await store.list(subscriptionKind, { namespace });
    const compaction = { revision: resourceVersion, physical: true };
    const answer = await fetch(`${kube.access.etcdUrl}/v3/kv/compaction`, { method: "POST", body: JSON.stringify(compaction) });
    expect(answer.ok).toBe(true);
    await answer.body?.cancel();
    // The server's own cache holds older versions than etcd.
    await kube.restart();
    await expect(store.list(subscriptionKind, { namespace, limit: 1, continue: first.continue ?? "" })).rejects.toMatchObject({
      code: "gone",
    });
    const watching = store.watch(subscriptionKind, first.resourceVersion, AbortSignal.timeout(120_000));
    await expect(eventsOf(watching)).rejects.toMatchObject({ status: 410 });
    await expect(eventsOf(store.watch(subscriptionKind, "abc", AbortSignal.timeout(5_000)))).rejects.toMatchObject({ status: 422 });
  });

  const troubles: readonly (readonly [string, (proxy: CuttableProxy) => void])[] = [
    ["cut", (proxy) => proxy.cut()],
    ["forgotten by a router", (proxy) => proxy.hush()],
  ];
  test.each(troubles)("continues without a gap or a new list when its connection is %s", async (_name, harm) => {
    const namespace = await kube.namespace();
    const { proxy, store, interrupted, end } = await throughProxy({ watchSilenceMs: 1_000 });
    const direct = createKubernetesResourceStore(kubernetes());
    const reported: string[] = [];
    const watching = follow(store, subscriptionKind, namespace, (event) => {
      if (event.type !== "bookmark" && event.resource.metadata.namespace === namespace)
        reported.push(`${event.type} ${event.resource.metadata.name}`);
    });
    for (const round of [1, 2, 3]) {
      await direct.create(subscriptionKind, { name: `before-${round}`, namespace, spec });
      await whenever(() => watching.state.has(`before-${round}`), "the watch is open");
      harm(proxy);
      await direct.create(subscriptionKind, { name: `during-${round}`, namespace, spec });
      await direct.delete(subscriptionKind, namespace, `before-${round}`);
      await whenever(() => reported.includes(`deleted before-${round}`), "changes made in the meantime are reported");
    }
    await expectSame(direct, subscriptionKind, namespace, watching.state);
    expect(watching.lists()).toBe(1);
    expect(reported.filter((each) => each.startsWith("added during"))).toHaveLength(3);
    expect(interrupted.length).toBeGreaterThan(0);
    await watching.end();
    await end();
  });

  test("a watcher that pauses reading misses nothing", async () => {
    const namespace = await kube.namespace();
    const store = createKubernetesResourceStore(kubernetes());
    const gate = Promise.withResolvers<void>();
    const watching = follow(store, componentKind, namespace, () => gate.promise);
    await whenever(() => watching.lists() === 1, "the list is read");
    const code = "x".repeat(300_000);
    let last = await store.create(componentKind, { name: "c-1", namespace, spec: { code } });
    // More than all buffers between the server and the watcher hold.
    for (let n = 0; n < 60; n++) last = await store.update(componentKind, { ...last, spec: { code: `${code}${n}` } });
    await store.create(componentKind, { name: "c-2", namespace, spec: { code: "short" } });
    gate.resolve();
    await expectSame(store, componentKind, namespace, watching.state);
    await watching.end();
  });

  test("bookmarks advance the version of a watch, also over its regular end", async () => {
    const namespace = await kube.namespace();
    const store = createKubernetesResourceStore(kubernetes(), { watchLastsSeconds: 3 });
    const bookmarks: string[] = [];
    const watching = follow(
      store,
      subscriptionKind,
      namespace,
      (event) => event.type === "bookmark" && bookmarks.push(event.resourceVersion),
    );
    await whenever(() => watching.lists() === 1, "the list is read");
    const created = await store.create(subscriptionKind, { name: "a", namespace, spec });
    const elsewhere = await kube.namespace();
    const began = Date.now();
    let others = 0;
    await whenever(async () => {
      // The server sends bookmarks only while something changes: so other objects change five times a second.
      if (Date.now() - began > others * 200)
        await store.create(subscriptionKind, { name: `other-${others++}`, namespace: elsewhere, spec });
      return bookmarks.length >= 2;
    }, "two bookmarks arrive, with the end of a watch between them");
    expect(BigInt(bookmarks.at(-1) ?? 0)).toBeGreaterThanOrEqual(BigInt(created.metadata.resourceVersion));
    await store.create(subscriptionKind, { name: "b", namespace, spec });
    await expectSame(store, subscriptionKind, namespace, watching.state);
    expect(watching.lists()).toBe(1);
    await watching.end();
  });
});
