import { finalizer, labels } from "../../crds/resource.ts";
import { sourceKind } from "../../crds/source.ts";
import { InvalidInput, NotFound, Unavailable } from "../../domain/errors.ts";
import { newId, resourceNameOf } from "../../domain/ids.ts";
import { nameSlug } from "../../domain/name-slug.ts";
import { ObservationError } from "../http/errors.ts";
import { confirmOwned } from "../owners/present.ts";
import type { User } from "../ports.ts";
import { keepOnce, settleSecrets } from "../resources/secret-texts.ts";
import type { ApiContext } from "../routes/context.ts";
import { checkAccounts } from "./accounts.ts";
import { definitionFor } from "./definition-for.ts";
import { untilDeployed } from "./deploy.ts";
import { storedProps } from "./props.ts";
import type { SourceFields } from "./request.ts";
import { resolveComponent } from "./resolve-component.ts";
import type { SourceResource } from "./source.ts";

/** Makes a source and waits until it is deployed; one that cannot be is deleted again. */
export async function createSource(fields: SourceFields, owner: string, user: User, context: ApiContext): Promise<SourceResource> {
  const { component, build } = await resolveComponent(fields, owner, user, context);
  const { ports, sources } = context;
  const id = newId("source", ports.randomBytes);
  const { namespace } = component.metadata; // A source and its component live in one.
  const name = resourceNameOf(id);
  const keep = keepOnce({ kind: sourceKind.kind, namespace, name }, ports);
  const definition = await definitionFor(component, build.definition, { props: fields.configured_props ?? {} }, context);
  const checkAccountsOfProps = (): Promise<void> => checkAccounts(build.definition, fields.configured_props ?? {}, namespace, context);
  await checkAccountsOfProps();
  const stored = await storedProps(definition, fields.configured_props, undefined, keep);
  const following = sources.follow(namespace, name);
  try {
    const created = await ports.store.create(sourceKind, {
      name,
      namespace,
      labels: { [labels.id]: id, [labels.owner]: owner },
      finalizers: [finalizer],
      spec: {
        name: fields.name ?? nameSlug(build.definition.name),
        componentRef: { name: component.metadata.name },
        ...stored,
        active: fields.active ?? true,
        emitOnDeploy: fields.emit_on_deploy ?? true,
        ignoreHookErrors: false,
      },
    });
    await confirmOwned(sourceKind, created, owner, ports);
    await settleSecrets(created, Object.values(stored.secrets), ports);
    // One that was deleted since it was looked at did not know of this source, and would be waited for.
    await checkAccountsOfProps();
    return await untilDeployed(created, following, context).catch(async (error: unknown) => {
      if (error instanceof Unavailable) await checkAccountsOfProps();
      throw error;
    });
  } catch (error) {
    if (error instanceof ObservationError || error instanceof InvalidInput) await discard(namespace, name, context);
    throw error;
  } finally {
    following.end();
  }
}

/** The operator clears away what there is of it; nobody waits for that. */
async function discard(namespace: string, name: string, { ports }: ApiContext): Promise<void> {
  await ports.store.delete(sourceKind, namespace, name).catch((error: unknown) => {
    if (!(error instanceof NotFound))
      ports.log.warn({ op: "source.discard", namespace, name, err: error }, "a source that could not be deployed is left behind");
  });
}
