import type { SourceResource } from "../../../crds/source.ts";
import { componentKind } from "../../../crds/component.ts";
import { labels } from "../../../crds/resource.ts";
import { Conflict, NotFound } from "../../../domain/errors.ts";
import { ownedBy } from "../../controller/ownership.ts";
import type { OperatorPorts } from "../../ports.ts";
import { isMadeFor, madeFor, madeForGeneration } from "./component-of.ts";
import type { Step } from "../plan/step.ts";

type WriteComponent = Extract<Step, { do: "write-component" }>;

/** If the name is taken in the meantime, the next plan reports it. */
export async function writeComponent(step: WriteComponent, source: SourceResource, ports: OperatorPorts): Promise<void> {
  const { now, code, url, generation } = step;
  const spec = { ...code, ...(url === undefined ? {} : { url }) };
  const annotations = generation === undefined ? {} : { [madeForGeneration]: generation };
  if (now !== undefined) {
    const metadata = { ...now.metadata, annotations: { ...now.metadata.annotations, ...annotations } };
    await ports.store.update(componentKind, { ...now, metadata, spec });
    return;
  }
  await ports.store
    .create(componentKind, {
      name: step.name,
      namespace: source.metadata.namespace,
      labels: { [labels.id]: ports.newId("component"), [madeFor]: source.metadata.uid },
      annotations,
      ownerReferences: [ownedBy(source)],
      spec,
    })
    .catch((error: unknown) => {
      if (!(error instanceof Conflict)) throw error;
    });
}

/** Deletes the component itself: the Postgres store has no garbage collection by owner references. */
export async function removeComponent(
  { name }: Extract<Step, { do: "remove-component" }>,
  source: SourceResource,
  { store }: OperatorPorts,
): Promise<void> {
  const component = await store.find(componentKind, source.metadata.namespace, name);
  if (component === undefined || !isMadeFor(source, component)) return;
  await store.delete(componentKind, source.metadata.namespace, name).catch((error: unknown) => {
    if (!(error instanceof NotFound)) throw error;
  });
}
