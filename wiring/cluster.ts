import type { ResourceStore } from "../crds/resource-store.ts";
import { connectKubernetes, type Kubernetes } from "../platform/kubernetes/access/connection.ts";
import { requireDefinitions } from "../platform/kubernetes/access/require-definitions.ts";
import { startKubernetesOwnerNamespaces, type KubernetesOwnerNamespaces } from "../platform/kubernetes/owners/owner-namespaces.ts";
import { createKubernetesResourceStore } from "../platform/kubernetes/resources/resource-store.ts";
import type { RoleContext } from "./context.ts";
import { Shared } from "../platform/process/shared.ts";

/** The cluster that stores the resources. */
export interface Cluster {
  readonly kubernetes: Kubernetes;
  /** Namespace of the installation. */
  readonly namespace: string;
  readonly store: ResourceStore;
  readonly owners: KubernetesOwnerNamespaces;
}

const clusters = new Shared<RoleContext["configuration"], Cluster>(async ({ owners, kubernetes }) => {
  await owners.close();
  await kubernetes.close();
});

/** The process's connection to the cluster, until `opened` is disposed. @throws InvalidInput or Unavailable that says what is missing */
export async function openCluster(context: RoleContext, opened: AsyncDisposableStack): Promise<Cluster> {
  const { value, release } = await clusters.use(context.configuration, () => connectCluster(context));
  opened.defer(release);
  return value;
}

async function connectCluster({ configuration, logger }: RoleContext): Promise<Cluster> {
  const kubernetes = await connectKubernetes({ userAgent: `headwater ${configuration.roles.join(",")}` });
  try {
    await requireDefinitions(kubernetes);
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
      needsConfirmation: true,
      onInterrupted: (error) => logger.warn({ op: "namespace.watch", err: error }, "the watch of namespaces is interrupted"),
    }),
  };
}
