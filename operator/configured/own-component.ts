import { componentKind, type ComponentResource } from "../../crds/component.ts";
import { labels, madeFor, madeForGeneration, type Resource } from "../../crds/resource.ts";
import { isSameCode, type ComponentCode } from "../../domain/component/component-code.ts";
import { Conflict, NotFound } from "../../domain/errors.ts";
import { ownedBy } from "../controller/ownership.ts";
import type { OperatorPorts } from "../ports.ts";
import type { Blocked } from "./blocked.ts";
import { isMadeFor } from "./component.ts";

/** The component made from the code of a source or step. */
export interface OwnComponent {
  readonly name: string;
  readonly code: ComponentCode;
  /** Where the code was read. */
  readonly url?: string | undefined;
  /** Key of the registry's component that it copies. */
  readonly registryKey?: string | undefined;
  /** Of the maker, if the code was read for it from elsewhere. */
  readonly generation?: string | undefined;
}

export interface WriteComponent extends OwnComponent {
  readonly do: "write-component";
  /** The component as it is now. */
  readonly now: ComponentResource | undefined;
}

/** Is it written as it should be? */
export function isWritten({ code, url, generation }: OwnComponent, component: ComponentResource): boolean {
  const { spec, metadata } = component;
  return isSameCode(spec, code) && spec.url === url && metadata.annotations[madeForGeneration] === generation;
}

/** Another resource has the name. @param whose such as "the code of this source" */
export function nameTaken(maker: Resource, component: ComponentResource | undefined, whose: string): Blocked | undefined {
  if (component === undefined || isMadeFor(maker, component)) return undefined;
  const message = `component ${component.metadata.name} exists already, and ${whose} needs that name: delete or rename one of them`;
  return { reason: "NameTaken", transient: false, message };
}

/** If the name is taken in the meantime, the next plan reports it. */
export async function writeComponent(step: WriteComponent, maker: Resource, ports: OperatorPorts): Promise<void> {
  const { now, code, url, registryKey, generation } = step;
  const spec = { ...code, ...(url === undefined ? {} : { url }), ...(registryKey === undefined ? {} : { key: registryKey }) };
  const annotations = generation === undefined ? {} : { [madeForGeneration]: generation };
  const registry = registryKey === undefined ? {} : { [labels.registry]: registryKey };
  if (now !== undefined) {
    const { [labels.registry]: _registry, ...kept } = now.metadata.labels;
    const { [madeForGeneration]: _generation, ...others } = now.metadata.annotations;
    const metadata = { ...now.metadata, labels: { ...kept, ...registry }, annotations: { ...others, ...annotations } };
    await ports.store.update(componentKind, { ...now, metadata, spec });
    return;
  }
  await ports.store
    .create(componentKind, {
      name: step.name,
      namespace: maker.metadata.namespace,
      labels: { [labels.id]: ports.newId("component"), [madeFor]: maker.metadata.uid, ...registry },
      annotations,
      ownerReferences: [ownedBy(maker)],
      spec,
    })
    .catch((error: unknown) => {
      if (!(error instanceof Conflict)) throw error;
    });
}

/** Deletes the component itself: the Postgres store has no garbage collection by owner references. */
export async function removeComponent(name: string, maker: Resource, { store }: Pick<OperatorPorts, "store">): Promise<void> {
  const component = await store.find(componentKind, maker.metadata.namespace, name);
  if (component === undefined || !isMadeFor(maker, component)) return;
  await store.delete(componentKind, maker.metadata.namespace, name).catch((error: unknown) => {
    if (!(error instanceof NotFound)) throw error;
  });
}
