import type { SourceFacts } from "../responses/source.ts";
import type { ApiContext } from "../routes/context.ts";
import { asItRuns } from "./running.ts";
import type { SourceResource } from "./source.ts";

/** The component that runs: the referenced one, or the one that the operator made from the source's code. */
export function componentNameOf({ spec, status }: SourceResource): string | undefined {
  return spec.componentRef?.name ?? status.component;
}

/** Names of all components that it needs: of the one that runs, and of the one that is asked for. */
export function componentNamesOf(source: SourceResource): readonly (string | undefined)[] {
  return [componentNameOf(source), componentNameOf(asItRuns(source))];
}

/** Of what runs. */
export async function factsOf(source: SourceResource, { components, ports }: ApiContext): Promise<SourceFacts> {
  const { namespace } = source.metadata;
  const component = componentNameOf(asItRuns(source));
  return {
    component: component === undefined ? undefined : await components.known(namespace, component),
    owner: await ports.owners.ownerOf(namespace),
  };
}
