import type { NamespaceClaims } from "../api/namespaces/ports.ts";
import type { ResourcePages } from "../api/ports.ts";
import type { OwnerNamespaces } from "../crds/owner-namespaces.ts";
import type { ResourceStore } from "../crds/resource-store.ts";
import type { SecretValues } from "../crds/secret-values.ts";
import { InvalidInput } from "../domain/errors.ts";
import type { Secrets } from "../domain/secrets/secrets.ts";
import type { MirrorRows } from "../operator/mirror/rows.ts";
import type { ConfigMaps } from "../operator/ports.ts";
import { createConfigMaps } from "../platform/kubernetes/config-maps.ts";
import { createKubernetesSecretValues } from "../platform/kubernetes/secret-values.ts";
import type { Database } from "../platform/postgres/connection.ts";
import { createMirroredStore } from "../platform/postgres/resources/mirrored-store.ts";
import { namedOwnerNamespaces } from "../platform/postgres/resources/owner-namespaces.ts";
import { createResourceMirror } from "../platform/postgres/resources/resource-mirror.ts";
import { createResourcePages } from "../platform/postgres/resources/resource-pages.ts";
import { createPostgresResourceStore } from "../platform/postgres/resources/resource-store.ts";
import { createSealedSecretValues } from "../platform/secrets/secret-values.ts";
import { openCluster, type Cluster } from "./cluster.ts";
import { ConfirmedNamespaces } from "./confirmed-namespaces.ts";
import { disposeWith, type RoleContext } from "./context.ts";

/** Where resources are stored, and what depends on it: Postgres on one machine, the Kubernetes API in a cluster. */
export interface Resources {
  readonly store: ResourceStore;
  /** The same for readers of `pages`: a resource written through it is in the next list. */
  readonly listedStore: ResourceStore;
  readonly owners: OwnerNamespaces;
  /** Only in a cluster. */
  readonly namespaces?: NamespaceClaims;
  readonly secretValues: SecretValues;
  readonly configMaps: ConfigMaps;
  readonly pages: ResourcePages;
  /** Only in a cluster. */
  readonly inCluster?: Cluster & { readonly mirror: MirrorRows };
}

export interface ResourceParts {
  readonly database: Database;
  readonly secrets: Pick<Secrets, "seal" | "open">;
}

interface OpenedParts {
  readonly database: Database;
  /** Called on one machine only: in a cluster resources refer to Secrets, and the API has no key to seal with. */
  readonly openSecrets: () => Promise<ResourceParts["secrets"]>;
}

export async function openResources(context: RoleContext, parts: OpenedParts, opened: AsyncDisposableStack): Promise<Resources> {
  const { database, openSecrets } = parts;
  if (context.configuration.resources === "kubernetes") return openResourcesInCluster(context, database, opened);
  return resourcesOnOneMachine({ database, secrets: await openSecrets() });
}

export function resourcesOnOneMachine({ database, secrets }: ResourceParts): Resources {
  const store = createPostgresResourceStore(database);
  return {
    store,
    listedStore: store,
    owners: namedOwnerNamespaces,
    secretValues: createSealedSecretValues(secrets),
    configMaps: {
      read: async (_namespace, name) => {
        throw new InvalidInput(`the ConfigMap '${name}' cannot be read: there are none on one machine, give the code itself`);
      },
    },
    pages: { ...createResourcePages(database), show: async () => undefined },
  };
}

async function openResourcesInCluster(context: RoleContext, database: Database, opened: AsyncDisposableStack): Promise<Resources> {
  const cluster = await openCluster(context, opened);
  const mirror = createResourceMirror(database);
  const pages = createResourcePages(database);
  const onError = (error: unknown): void =>
    context.logger.warn({ op: "mirror.write", err: error }, "a change is missing from the lists until the operator mirrors it");
  const { store } = cluster;
  return {
    store,
    listedStore: createMirroredStore({ cluster: store, mirror, pages, onError }),
    owners: cluster.owners,
    namespaces: disposeWith(
      opened,
      new ConfirmedNamespaces(database, cluster.owners, {
        adopts: context.configuration.roles.includes("operator"),
        onError: (error) => context.logger.warn({ op: "namespace.confirmed", err: error }, "confirmations of namespaces cannot be read"),
      }),
    ),
    secretValues: createKubernetesSecretValues(cluster.kubernetes),
    configMaps: createConfigMaps(cluster.kubernetes),
    pages: { ...pages, show: (_kind, resource) => mirror.write([resource], []).catch(onError) },
    inCluster: { ...cluster, mirror },
  };
}
