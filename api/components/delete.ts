import { componentKind } from "../../crds/component.ts";
import type { Resource } from "../../crds/resource.ts";
import { allOf, type ResourceStore } from "../../crds/resource-store.ts";
import { sourceKind } from "../../crds/source.ts";
import { workflowKind, type WorkflowSpec } from "../../crds/workflow.ts";
import { stepsOf } from "../../crds/workflow-steps.ts";
import { Conflict } from "../../domain/errors.ts";
import { unlessDeleted } from "../resources/change.ts";
import type { ComponentResource } from "../resources/components.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { ApiContext } from "../context.ts";
import type { ApiPorts } from "../ports.ts";
import { componentNamesOf } from "../resources/source.ts";

/** A refusal names at most this many users of a component. */
const maxNamed = 20;

type Ports = Pick<ApiPorts, "store">;

/**
 * Deletes a component that no source or workflow uses. A source can be created between the check and the deletion: the second check finds
 * it and restores the component, because the source could not be deployed again without it.
 * @throws Conflict while sources or workflows use it
 */
export async function deleteComponent(component: ComponentResource, { store }: Ports, restore: ApiContext["restore"]): Promise<void> {
  const { namespace, name, labels } = component.metadata;
  refuseInUse(component, await usersOf(component, store));
  await unlessDeleted(store.delete(componentKind, namespace, name));
  const users = await usersOf(component, store);
  if (!isUsed(users)) return;
  await restore(componentKind, { namespace, name, labels, spec: component.spec }).catch((error: unknown) => {
    if (!(error instanceof Conflict)) throw error; // Saved again in the meantime.
  });
  refuseInUse(component, users);
}

/** Public ids of the resources that use a component. */
interface Users {
  readonly sources: readonly string[];
  readonly workflows: readonly string[];
}

const isUsed = ({ sources, workflows }: Users): boolean => sources.length + workflows.length > 0;

function refuseInUse(component: ComponentResource, users: Users): void {
  if (!isUsed(users)) return;
  const all = [...users.sources, ...users.workflows];
  const others = all.length > maxNamed ? ` and ${all.length - maxNamed} others` : "";
  throw new Conflict(
    `component ${publicIdOf(component)} is used by ${all.slice(0, maxNamed).join(", ")}${others}: delete them first, or let them run another`,
    { code: "component_in_use", details: { sources: users.sources.slice(0, maxNamed), workflows: users.workflows.slice(0, maxNamed) } },
  );
}

/** Users are in the namespace of the component. A source that is being deleted counts, because its `deactivate` hook still has to run. */
async function usersOf({ metadata: { namespace, name } }: ComponentResource, store: ResourceStore): Promise<Users> {
  const [sources, workflows]: [string[], string[]] = [[], []];
  for await (const source of allOf(store, sourceKind, { namespace }))
    if (componentNamesOf(source).includes(name)) sources.push(publicIdOf(source));
  for await (const workflow of allOf(store, workflowKind, { namespace }))
    if (usesComponent(workflow, name)) workflows.push(publicIdOf(workflow));
  return { sources, workflows };
}

/** Stored resources may not match their schema, so every field is optional. */
function usesComponent({ spec: { steps } }: Resource<Partial<WorkflowSpec>>, component: string): boolean {
  return stepsOf({ steps }).some(({ node }) => node.componentRef?.name === component);
}
