import { apiVersion } from "../crds/resource.ts";
import type { ResourceStore } from "../crds/resource-store.ts";
import { InvalidInput, Unavailable } from "../domain/errors.ts";
import { connectKubernetes, pathOf, type Kubernetes } from "../platform/kubernetes/access/connection.ts";
import { startKubernetesOwnerNamespaces, type KubernetesOwnerNamespaces } from "../platform/kubernetes/owners/owner-namespaces.ts";
import { createKubernetesResourceStore } from "../platform/kubernetes/resources/resource-store.ts";
import type { RoleContext } from "./context.ts";
import { Shared } from "../platform/process/shared.ts";

/** The cluster that resources are kept in. */
export interface Cluster {
  readonly kubernetes: Kubernetes;
  /** Of the installation. */
  readonly namespace: string;
  readonly store: ResourceStore;
  readonly owners: KubernetesOwnerNamespaces;
}

const clusters = new Shared<RoleContext["configuration"], Cluster>(async ({ owners, kubernetes }) => {
  await owners.close();
  await kubernetes.close();
});

/** The process's connection to the cluster; `release` it when the role stops. @throws InvalidInput or Unavailable that says what is missing */
export async function clusterOf(context: RoleContext): Promise<{ cluster: Cluster; release: () => Promise<void> }> {
  const { value: cluster, release } = await clusters.use(context.configuration, () => openCluster(context));
  return { cluster, release };
}

async function openCluster({ configuration, logger }: RoleContext): Promise<Cluster> {
  const kubernetes = await connectKubernetes({ userAgent: `headwater ${configuration.roles.join(",")}` });
  const told = (op: string, what: string) => (error: unknown) => logger.warn({ op, err: error }, what);
  try {
    await knowsOurKinds(kubernetes);
  } catch (error) {
    await kubernetes.close();
    throw error;
  }
  return {
    kubernetes,
    namespace: configuration.namespace ?? kubernetes.namespace,
    store: createKubernetesResourceStore(kubernetes, {
      onWatchInterrupted: (kind, error) => logger.warn({ op: "resource.watch", kind, err: error }, "a watch is interrupted"),
    }),
    owners: startKubernetesOwnerNamespaces(kubernetes, {
      onInterrupted: told("namespace.watch", "the watch of namespaces is interrupted"),
    }),
  };
}

/** What would otherwise fail later and in other words. */
async function knowsOurKinds(kubernetes: Kubernetes): Promise<void> {
  try {
    await kubernetes.request({ method: "GET", path: pathOf(["apis", ...apiVersion.split("/")]) });
  } catch (error) {
    if (error instanceof Unavailable && error.code === "kubernetes_kind_missing")
      throw new InvalidInput(
        `the cluster at ${kubernetes.server} does not know ${apiVersion}: install the chart, or apply the definitions in charts/headwater/files/crds`,
        { code: "definitions_missing", cause: error },
      );
    if (!(error instanceof Unavailable)) throw error;
    throw new Unavailable(
      `resources are kept in the cluster at ${kubernetes.server} (HEADWATER_RESOURCES), which cannot be used: ${error.message}`,
      {
        cause: error,
      },
    );
  }
}
