import { expect, test } from "vitest";
import { subscriptionKind } from "../../../crds/subscription.ts";
import type { HeadwaterError } from "../../../domain/errors.ts";
import { createKubernetesResourceStore } from "../../../platform/kubernetes/resources/resource-store.ts";
import type { CuttableProxy } from "../../support/cuttable-proxy.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";
import { throughProxy, whenever, withKubernetes } from "./support.ts";
import { expectSame, follow } from "./watch-support.ts";

const kube = await withKubeApi();
const kubernetes = withKubernetes(kube);
const spec = { emitter: "dc_a", listener: "wh_a", channel: "" };

kube.describe("a watch of Kubernetes", () => {
  const troubles: readonly (readonly [string, (proxy: CuttableProxy) => void])[] = [
    ["cut", (proxy) => proxy.cut()],
    ["forgotten by a router", (proxy) => proxy.hush()],
  ];
  test.each(troubles)("continues without a gap or a new list when its connection is %s", async (_name, harm) => {
    const namespace = await kube.namespace();
    // Short, since the connection may also be lost while a watch is being reopened.
    const { kubernetes: proxied, proxy, end } = await throughProxy(kube, { timeoutMs: 2_000, watchSilenceMs: 1_000 });
    const interrupted: HeadwaterError[] = [];
    const store = createKubernetesResourceStore(proxied, { onWatchInterrupted: (_kind, error) => interrupted.push(error) });
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
