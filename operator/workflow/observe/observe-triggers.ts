import { sourceKind } from "../../../crds/source.ts";
import type { WorkflowResource } from "../../../crds/workflow.ts";
import type { OperatorPorts } from "../../ports.ts";
import { isForeign, reaches, reachOf } from "../../reach.ts";
import type { ObservedTrigger } from "./observed.ts";

/** A source by id, if it exists and its owner is within reach. */
interface FoundSource {
  readonly id: string;
  readonly owner: string | undefined;
}

export interface ObservedTriggers {
  readonly triggers: readonly ObservedTrigger[];
  readonly hasForeignSource: boolean;
  readonly presentSources: ReadonlySet<string>;
}

/** Finds the sources of the spec's triggers, and of those that the current version has. The rules are those of Subscriptions. */
export async function observeTriggers(
  { metadata: { namespace }, spec }: WorkflowResource,
  owner: string | undefined,
  running: readonly string[],
  ports: OperatorPorts,
): Promise<ObservedTriggers> {
  const named = spec.triggers.flatMap(({ source, sourceRef }, index) =>
    source === undefined && sourceRef === undefined ? [] : [{ index, id: source, name: sourceRef?.name }],
  );
  const found = await Promise.all(
    named.map(({ id, name }) => (name === undefined ? findById(id ?? "", ports) : findByName(namespace, name, ports))),
  );
  const current = (await Promise.all(running.map((id) => findById(id, ports)))).filter((each) => each !== undefined);
  const owners = [...found, ...current].map((each) => each?.owner);
  const reach = owner === undefined ? undefined : await reachOf(owner, owners, ports.memberships);
  const isReachable = (source: FoundSource | undefined): source is FoundSource =>
    source !== undefined && reach !== undefined && reaches(reach, source.owner);
  return {
    triggers: named.map(({ index, id, name }, at) => {
      const source = found[at];
      return { index, shown: name ?? id ?? "", source: isReachable(source) ? source.id : undefined };
    }),
    hasForeignSource: owner !== undefined && owners.some((other) => other !== undefined && isForeign(owner, other)),
    presentSources: new Set(current.filter(isReachable).map(({ id }) => id)),
  };
}

async function findById(id: string, ports: Pick<OperatorPorts, "store" | "owners">): Promise<FoundSource | undefined> {
  const found = await ports.store.findById(sourceKind, id);
  if (found === undefined || found.metadata.deletionTimestamp !== undefined || (found.status.id ?? id) !== id) return undefined;
  return { id, owner: await ports.owners.ownerOf(found.metadata.namespace) };
}

async function findByName(
  namespace: string,
  name: string,
  ports: Pick<OperatorPorts, "store" | "owners">,
): Promise<FoundSource | undefined> {
  const found = await ports.store.find(sourceKind, namespace, name);
  if (found?.status.id === undefined || found.metadata.deletionTimestamp !== undefined) return undefined;
  return { id: found.status.id, owner: await ports.owners.ownerOf(namespace) };
}
