import { expect, it } from "vitest";
import { sourceKind } from "../../../crds/source.ts";
import type { ResourceStore } from "../../../crds/resource-store.ts";
import { startOperator } from "../../../operator/start.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";
import { newOwner, whenever } from "../kubernetes/support.ts";
import { withWorldInCluster } from "./cluster.ts";

const kube = await withKubeApi();
const owner = newOwner();
const names = Array.from({ length: 60 }, (_, index) => `source-${index}`);
const apiVersion = "headwater.dev/v1alpha1";
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";
const code = `export default { name: "T", version: "1.0.0", type: "source", props: { timer: "$.interface.timer" }, async run() {} };`;

kube.describe("many sources that are applied at once", () => {
  const written = new Map<string, number>();
  const { world, onOwnerChange } = withWorldInCluster(kube, owner, (store) => countWrites(store, written));

  it("are deployed with three writes each, and cached without what only the API server needs", async () => {
    const namespace = await kube.namespace({ "headwater.dev/owner": owner });
    let cached = (): readonly object[] => [];
    const operator = await startOperator({ ingressUrl: "http://ingress.test", hookTimeoutMs: 4_000 }, world.ports, {
      onOwnerChange,
      onCache: (informer) => {
        if (informer.kind.kind === "Source") cached = () => [...informer.values()].map(({ metadata }) => metadata);
      },
    });
    try {
      const component = { apiVersion, kind: "Component", metadata: { name: "shared" }, spec: { code } };
      await kube.objects.apply(JSON.stringify(component), namespace);
      await whenever(async () => {
        const status = JSON.stringify(await kube.objects.find("component shared", namespace));
        return status.includes(`"reason":"Built"`);
      }, "the component is built");
      const spec = { componentRef: { name: "shared" }, props: { timer: { intervalSeconds: 3_600 } } };
      const apply = (name: string): Promise<void> =>
        kube.objects.apply(
          JSON.stringify({ apiVersion, kind: "Source", metadata: { name, annotations: { [lastApplied]: "{}" } }, spec }),
          namespace,
        );
      await Promise.all(names.map(apply));
      const ready = async (): Promise<boolean> => {
        const listed = await world.ports.store.list(sourceKind, { namespace });
        return listed.items.length === names.length && listed.items.every(({ status }) => status.conditions?.[0]?.status === "True");
      };
      await whenever(ready, "all sources are ready");
      expect([...written].filter(([, writes]) => writes > 3)).toEqual([]);
      expect(written.size).toBe(names.length);
      expect(cached()).toHaveLength(names.length);
      expect(JSON.stringify(cached())).not.toMatch(/managedFields|last-applied-configuration/);
    } finally {
      await operator.stop();
    }
  });
});

/** Counts successful writes of Sources by name. */
function countWrites(store: ResourceStore, written: Map<string, number>): ResourceStore {
  const counted = async <R extends { readonly kind: string; readonly metadata: { readonly name: string } }>(
    write: Promise<R>,
  ): Promise<R> => {
    const { kind, metadata } = await write;
    if (kind === "Source") written.set(metadata.name, (written.get(metadata.name) ?? 0) + 1);
    return write;
  };
  return {
    ...store,
    update: (kind, resource) => counted(store.update(kind, resource)),
    updateStatus: (kind, resource) => counted(store.updateStatus(kind, resource)),
  };
}
