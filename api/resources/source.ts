import type { Resource } from "../../crds/resource.ts";
import { runningSpec, type SourceSpec, type SourceStatus } from "../../crds/source.ts";

export type SourceResource = Resource<SourceSpec, SourceStatus>;

/** The running version of the source, which the API shows. It differs from the spec while an update is pending or has failed. */
export function asItRuns(source: SourceResource): SourceResource {
  return source.status.running === undefined ? source : { ...source, spec: runningSpec(source) };
}

/** The running component: the referenced one, or the one that the operator created from the source's code. */
export function componentNameOf({ spec, status }: SourceResource): string | undefined {
  return spec.componentRef?.name ?? status.component;
}

/** Names of all components that the source needs: those of its spec and of its running version. */
export function componentNamesOf(source: SourceResource): readonly (string | undefined)[] {
  return [componentNameOf(source), componentNameOf(asItRuns(source))];
}
