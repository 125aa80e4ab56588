import { componentKind } from "../../crds/component.ts";
import { labels } from "../../crds/resource.ts";
import { InvalidInput, NotFound, Unavailable } from "../../domain/errors.ts";
import type { Build } from "../../domain/component/definition.ts";
import { whyNotAction } from "../../domain/workflow/step-action.ts";
import { labelOfKey, type ComponentResource } from "../resources/components.ts";
import { whyNotFound } from "../resources/not-found.ts";
import type { User } from "../http/ports.ts";
import type { ApiContext } from "../context.ts";
import { codeOf } from "./code.ts";
import type { CodeFields } from "./request.ts";

/** A component in the namespace of the source's owner, and its build. */
export interface Resolved {
  readonly component: ComponentResource;
  readonly build: Build;
}

export function namesCode(fields: CodeFields): boolean {
  const { component_id, component_code, component_files, component_url, key } = fields;
  return [component_id, component_code, component_files, component_url, key].some((field) => field !== undefined);
}

/**
 * Resolves the component of a request by id, else code and files, else URL, else key. A URL beside code only documents its origin.
 * @throws InvalidInput when it names none, or one that is not a source; NotFound
 */
export async function resolveComponent(fields: CodeFields, owner: string, user: User, context: ApiContext): Promise<Resolved> {
  const { component, build } = await resolved(fields, owner, user, context);
  if (build.definition.type === "action")
    throw new InvalidInput(
      `component '${build.definition.name}' is an action: only a component without a type, or of type source, can be deployed as a source`,
      { code: "not_a_source" },
    );
  return { component, build };
}

/** The same for the action of a step. @throws InvalidInput when it names none, or a source; NotFound */
export async function resolveAction(fields: CodeFields, owner: string, user: User, context: ApiContext): Promise<Resolved> {
  const { component, build } = await resolved(fields, owner, user, context);
  const why = whyNotAction(build.definition);
  if (why !== undefined) throw new InvalidInput(why, { code: "not_an_action" });
  return { component, build };
}

async function resolved(fields: CodeFields, owner: string, user: User, context: ApiContext): Promise<Resolved> {
  const component = await find(fields, owner, user, context);
  const { build } = component.status;
  if (build === undefined) throw new Unavailable(`the component is not built yet: try again`, { code: "component_not_built" });
  return { component, build };
}

async function find(fields: CodeFields, owner: string, user: User, context: ApiContext): Promise<ComponentResource> {
  const { component_id, component_url } = fields;
  if (component_id !== undefined) return findById(component_id, owner, user, context);
  const code = await codeOf(fields, owner, context.ports);
  if (code !== undefined) return context.components.save(owner, code, { url: component_url });
  if (fields.key !== undefined) return findByKey(fields.key, owner, context);
  throw new InvalidInput("no component is given: send component_id, component_code, component_files, component_url or key", {
    code: "component_missing",
  });
}

async function findById(id: string, owner: string, user: User, { access, components, ports }: ApiContext): Promise<ComponentResource> {
  const component = await access.getReferenced(componentKind, "component", id, user).catch((error: unknown) => {
    throw error instanceof NotFound ? new NotFound(`component_id is not found: ${whyNotFound("component", id)}`) : error;
  });
  // A source and its component share a namespace: components of another owner are copied.
  const isOwn = component.metadata.namespace === (await ports.owners.find(owner));
  return isOwn && component.status.build !== undefined ? component : components.save(owner, component.spec, { url: component.spec.url });
}

/** The owner's newest component with the key, or the registry's. Copies of earlier registry versions are ignored. */
async function findByKey(key: string, owner: string, { components, ports, registry }: ApiContext): Promise<ComponentResource> {
  const namespace = await ports.owners.find(owner);
  const selection = { labels: { [labels.componentKey]: labelOfKey(key) }, withoutLabel: labels.registry };
  const found = namespace === undefined ? undefined : await ports.pages.findNewest(componentKind, { namespace, ...selection });
  if (found !== undefined) return found;
  const published = await registry.find(key);
  if (published !== undefined) return components.save(owner, published, { registryKey: key });
  const hint = await registry.suggestion(key, ": GET /v1/components and GET /v1/components/registry list them");
  throw new NotFound(`no component with the key '${key}' is found, neither of yours nor in the registry${hint}`);
}
