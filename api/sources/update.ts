import { defaultSettings, sourceKind, type SourceSpec, type SourceStatus } from "../../crds/source.ts";
import { accountPropsOf } from "../../domain/component/account-props.ts";
import { Invariant, Unavailable } from "../../domain/errors.ts";
import type { ComponentDefinition } from "../../domain/component/definition.ts";
import { newId } from "../../domain/ids.ts";
import { nameSlug } from "../../domain/name-slug.ts";
import type { User } from "../http/ports.ts";
import type { Following } from "../resources/watch/following.ts";
import { keepOnce } from "../resources/secret-texts.ts";
import { verdictOf } from "../resources/watch/verdict.ts";
import type { ApiContext } from "../context.ts";
import { checkStores } from "./store-props.ts";
import { checkAccounts } from "./account-props.ts";
import { changeSource } from "./change.ts";
import { withAdditional } from "../../domain/component/definition.ts";
import { definitionFor } from "./definition-for.ts";
import { untilDeployed, type Deployment } from "./deploy.ts";
import { storedProps } from "./props.ts";
import { asItRuns, componentNameOf, type SourceResource } from "../resources/source.ts";
import type { SourceFields, UpdateFields } from "./request.ts";
import { namesCode, resolveComponent, type Resolved } from "../components/resolve.ts";
import { settingsIn } from "./settings.ts";

/**
 * Changes the given fields. With code, name and active have the specification's defaults ("PUT /sources/{id}"). A request without
 * code, our addition, keeps the rest of the running version. If the update fails, the previous version keeps running (decision 20).
 */
export async function updateSource(source: SourceResource, fields: UpdateFields, user: User, context: ApiContext): Promise<Deployment> {
  const { ports, sources } = context;
  const { namespace, name } = source.metadata;
  const owner = await ports.owners.ownerOf(namespace);
  if (owner === undefined) throw new Invariant(`namespace ${namespace} has no owner`);
  const replaced = namesCode(fields) ? await resolveComponent(fields, owner, user, context) : undefined;
  const definition = await definitionOfUpdate(asItRuns(source), fields, replaced, context);
  const keep = keepOnce({ kind: sourceKind.kind, namespace, name }, ports);
  if (fields.configured_props !== undefined) {
    await checkAccounts(accountPropsOf(definition, fields.configured_props), namespace, context);
    await checkStores(definition, fields.configured_props, namespace, context);
  }
  const following = sources.follow(namespace, name);
  try {
    const changed = await changeSource(ports.store, source, async (now): Promise<SourceSpec> => {
      const before = asItRuns(now).spec;
      return {
        ...(replaced === undefined ? before : withComponent(before, replaced.component.metadata.name)),
        ...redeployAfterFailure(now, context),
        ...(replaced === undefined ? {} : { name: nameSlug(definition.name), active: defaultSettings.active }),
        ...settingsIn(fields),
        ...(await storedProps(definition, fields.configured_props, before, keep)),
      };
    });
    return deploymentOf(changed, following, context);
  } catch (error) {
    following.end();
    throw error;
  }
}

/** A separate function, so that none of its variables holds the request. */
function deploymentOf(changed: SourceResource, following: Following<SourceSpec, SourceStatus>, context: ApiContext): Deployment {
  return { deployed: () => untilDeployed(changed, following, context).finally(() => following.end()) };
}

/** The spec with this component as its only code. */
function withComponent({ code: _code, codeFrom: _codeFrom, url: _url, ...spec }: SourceSpec, component: string): SourceSpec {
  return { ...spec, componentRef: { name: component } };
}

/** Retries a source that could not be deployed, even if its spec is unchanged: its hook may succeed now. */
function redeployAfterFailure(source: SourceResource, { ports }: ApiContext): Pick<SourceSpec, "redeploy"> {
  if (verdictOf(source, source.metadata.generation)?.outcome !== "stalled") return {};
  return { redeploy: newId("deployment", ports.randomBytes) };
}

/** The definition after the update. Calls the component for additional props only if it or its values change, not to pause a source. */
async function definitionOfUpdate(
  source: SourceResource,
  { configured_props: given }: SourceFields,
  replaced: Resolved | undefined,
  context: ApiContext,
): Promise<ComponentDefinition> {
  const stored = { hidden: Object.keys(source.spec.secrets), of: { source: source.metadata.name } };
  if (replaced !== undefined)
    return definitionFor(replaced.component, replaced.build.definition, { props: given ?? source.spec.props, ...stored }, context);
  const definition = await currentDefinition(source, context);
  if (given === undefined) return withAdditional(definition, source.status.configurableProps);
  const name = componentNameOf(source) ?? "";
  return definitionFor({ metadata: { name, namespace: source.metadata.namespace } }, definition, { props: given, ...stored }, context);
}

async function currentDefinition(source: SourceResource, { components }: ApiContext): Promise<ComponentDefinition> {
  const running = componentNameOf(source);
  const component = running === undefined ? undefined : await components.known(source.metadata.namespace, running);
  if (component?.definition === undefined)
    throw new Unavailable(`the source's component is not built: try again, or send other code`, {
      code: "component_not_built",
    });
  return component.definition;
}
