import { createConfigMaps } from "../../../platform/kubernetes/config-maps.ts";
import { connectKubernetes } from "../../../platform/kubernetes/access/connection.ts";
import { readKubeconfig } from "../../../platform/kubernetes/access/kubeconfig.ts";
import { startKubernetesOwnerNamespaces, type KubernetesOwnerNamespaces } from "../../../platform/kubernetes/owners/owner-namespaces.ts";
import { createKubernetesResourceStore } from "../../../platform/kubernetes/resources/resource-store.ts";
import { createKubernetesSecretValues } from "../../../platform/kubernetes/secret-values.ts";
import { ofNamespaces } from "../kubernetes/support.ts";
import type { KubeApi } from "../../support/kube/kube-api.ts";
import { evaluatedBuild } from "./builds.ts";
import { withOperatorWorld, type OperatorWorld, type WorldResources } from "./world.ts";

/** Resources of an operator's world in a Kubernetes API instead of Postgres. */
export async function resourcesInCluster(kube: KubeApi): Promise<WorldResources & { readonly owners: KubernetesOwnerNamespaces }> {
  const kubernetes = await connectKubernetes({ access: await readKubeconfig(kube.kubeconfigPath) });
  const owners = startKubernetesOwnerNamespaces(kubernetes);
  return {
    store: ofNamespaces(createKubernetesResourceStore(kubernetes), (namespace) => kube.isOwn(namespace)),
    owners,
    secretValues: createKubernetesSecretValues(kubernetes),
    configMaps: createConfigMaps(kubernetes),
    release: async () => {
      await owners.close();
      await kubernetes.close();
    },
  };
}

/** An operator's world whose resources are in a Kubernetes API, for the suite that calls this. @param storeOf wraps the store */
export function withWorldInCluster(
  kube: KubeApi,
  owner: string,
  storeOf: (store: WorldResources["store"]) => WorldResources["store"] = (store) => store,
): { readonly world: OperatorWorld; readonly onOwnerChange: (listener: (namespace: string) => void) => void } {
  let owners: KubernetesOwnerNamespaces | undefined;
  const world = withOperatorWorld({
    owner,
    build: evaluatedBuild,
    resources: async () => {
      const resources = await resourcesInCluster(kube);
      ({ owners } = resources);
      return { ...resources, store: storeOf(resources.store) };
    },
  });
  return { world, onOwnerChange: (listener) => void owners?.onChange(listener) };
}
