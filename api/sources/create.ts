import { componentKind } from "../../crds/component.ts";
import type { ResourceStore } from "../../crds/resource-store.ts";
import { finalizer, labels } from "../../crds/resource.ts";
import { defaultSettings, sourceKind, type SourceSpec, type SourceStatus } from "../../crds/source.ts";
import { accountPropsOf, type AccountProp } from "../../domain/component/account-props.ts";
import { InvalidInput, NotFound, Unavailable } from "../../domain/errors.ts";
import { newId, resourceNameOf } from "../../domain/ids.ts";
import { nameSlug } from "../../domain/name-slug.ts";
import { ObservationError } from "../http/response/errors.ts";
import { confirmOwned } from "../resources/owner-present.ts";
import type { User } from "../http/ports.ts";
import { confirmCreated } from "../resources/change.ts";
import type { ComponentResource } from "../resources/components.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { Following } from "../resources/watch/following.ts";
import { keepOnce } from "../resources/secret-texts.ts";
import type { ApiContext } from "../context.ts";
import { checkStores } from "./store-props.ts";
import { checkAccounts } from "./account-props.ts";
import { definitionFor } from "./definition-for.ts";
import { untilDeployed, type Deployment } from "./deploy.ts";
import { storedProps } from "./props.ts";
import type { SourceFields } from "./request.ts";
import { resolveComponent } from "../components/resolve.ts";
import { settingsIn } from "./settings.ts";
import type { SourceResource } from "../resources/source.ts";

/** Creates a source, and deletes it if it cannot be deployed. */
export async function createSource(fields: SourceFields, owner: string, user: User, context: ApiContext): Promise<Deployment> {
  const { component, build } = await resolveComponent(fields, owner, user, context);
  const { ports, sources } = context;
  const id = newId("source", ports.randomBytes);
  const { namespace } = component.metadata; // A source and its component share a namespace.
  const name = resourceNameOf(id);
  const keep = keepOnce({ kind: sourceKind.kind, namespace, name }, ports);
  const definition = await definitionFor(component, build.definition, { props: fields.configured_props ?? {} }, context);
  const accounts = accountPropsOf(build.definition, fields.configured_props ?? {});
  await checkAccounts(accounts, namespace, context);
  await checkStores(definition, fields.configured_props ?? {}, namespace, context);
  const stored = await storedProps(definition, fields.configured_props, undefined, keep);
  const following = sources.follow(namespace, name);
  try {
    const created = await ports.store.create(sourceKind, {
      name,
      namespace,
      labels: { [labels.id]: id, [labels.owner]: owner },
      finalizers: [finalizer],
      spec: {
        ...defaultSettings,
        name: nameSlug(build.definition.name),
        ...settingsIn(fields),
        ...stored,
        componentRef: { name: component.metadata.name },
      },
    });
    await confirmOwned(sourceKind, created, owner, ports);
    await confirmCreated(sourceKind, created, () => checkComponent(component, ports.store), ports.store);
    // An account may have been deleted before this source existed; the operator would wait for it.
    await checkAccounts(accounts, namespace, context);
    return deploymentOf(created, following, accounts, context);
  } catch (error) {
    following.end();
    await discardRefused(error, { namespace, name }, context);
    throw error;
  }
}

/** A separate function, so that none of its variables holds the request. */
function deploymentOf(
  created: SourceResource,
  following: Following<SourceSpec, SourceStatus>,
  accounts: readonly AccountProp[],
  context: ApiContext,
): Deployment {
  const { namespace } = created.metadata;
  return {
    deployed: async () => {
      try {
        return await untilDeployed(created, following, context).catch(async (error: unknown) => {
          if (error instanceof Unavailable) await checkAccounts(accounts, namespace, context);
          throw error;
        });
      } catch (error) {
        await discardRefused(error, created.metadata, context);
        throw error;
      } finally {
        following.end();
      }
    },
  };
}

async function discardRefused(
  error: unknown,
  { namespace, name }: { namespace: string; name: string },
  context: ApiContext,
): Promise<void> {
  if (error instanceof ObservationError || error instanceof InvalidInput) await discard(namespace, name, context);
}

/** A deletion of the component may have checked its users before this source existed. @throws NotFound */
async function checkComponent(component: ComponentResource, store: ResourceStore): Promise<void> {
  const { namespace, name } = component.metadata;
  if ((await store.find(componentKind, namespace, name)) === undefined)
    throw new NotFound(`component ${publicIdOf(component)} was deleted in the meantime`);
}

/** The operator cleans up in the background. */
async function discard(namespace: string, name: string, { ports }: ApiContext): Promise<void> {
  await ports.store.delete(sourceKind, namespace, name).catch((error: unknown) => {
    if (!(error instanceof NotFound))
      ports.log.warn({ op: "source.discard", namespace, name, err: error }, "a source that could not be deployed was not deleted");
  });
}
