import { createConfigMaps } from "../../platform/kubernetes/config-maps.ts";
import { connectKubernetes } from "../../platform/kubernetes/connection.ts";
import { readKubeconfig } from "../../platform/kubernetes/kubeconfig.ts";
import { startKubernetesOwnerNamespaces, type KubernetesOwnerNamespaces } from "../../platform/kubernetes/owner-namespaces.ts";
import { createKubernetesResourceStore } from "../../platform/kubernetes/resource-store.ts";
import { createKubernetesSecretValues } from "../../platform/kubernetes/secret-values.ts";
import type { KubeApi } from "../support/kube-api.ts";
import type { WorldResources } from "./operator-world.ts";

/** Resources of an operator's world in a Kubernetes API instead of Postgres. */
export async function resourcesInCluster(kube: KubeApi): Promise<WorldResources & { readonly owners: KubernetesOwnerNamespaces }> {
  const kubernetes = await connectKubernetes({ access: await readKubeconfig(kube.kubeconfigPath) });
  const owners = startKubernetesOwnerNamespaces(kubernetes);
  return {
    store: createKubernetesResourceStore(kubernetes),
    owners,
    secretValues: createKubernetesSecretValues(kubernetes),
    configMaps: createConfigMaps(kubernetes),
    release: async () => {
      await owners.close();
      await kubernetes.close();
    },
  };
}
