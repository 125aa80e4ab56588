import fc from "fast-check";
import { expect, test } from "vitest";
import { componentKind } from "../../../crds/component.ts";
import type { ResourceStore } from "../../../crds/resource-store.ts";
import { subscriptionKind } from "../../../crds/subscription.ts";
import { HeadwaterError } from "../../../domain/errors.ts";
import { createKubernetesResourceStore } from "../../../platform/kubernetes/resources/resource-store.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";
import { whenever, withKubernetes } from "./support.ts";
import { expectSame, follow } from "./watch-support.ts";

const kube = await withKubeApi({ own: true });
const kubernetes = withKubernetes(kube);
const spec = { emitter: "dc_a", listener: "wh_a", channel: "" };

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
});
