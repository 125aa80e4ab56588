import type { SourceResource } from "../../../crds/source.ts";
import type { ComponentResource } from "../../../crds/component.ts";
import { hash } from "node:crypto";

/** Label of a resource made by the operator: uid of the source it was made for. */
export const madeFor = "headwater.dev/made-for";
/** Annotation of a component made from a URL: generation of the source for which the URL was read. */
export const madeForGeneration = "headwater.dev/made-for-generation";

const maxNameLength = 63;
const suffix = "-code";

/** Name of the source's component: the one it refers to, or the one made of its own code. */
export function componentNameOf({ metadata, spec }: Pick<SourceResource, "metadata" | "spec">): string {
  return spec.componentRef?.name ?? ownComponentName(metadata.name);
}

/** `<source>-code`. Long names are truncated and made unique with a hash. */
export function ownComponentName(source: string): string {
  if (source.length + suffix.length <= maxNameLength) return source + suffix;
  const digest = hash("sha256", source).slice(0, 8);
  return `${source.slice(0, maxNameLength - suffix.length - digest.length - 1)}-${digest}${suffix}`;
}

export function hasOwnCode({ spec }: Pick<SourceResource, "spec">): boolean {
  return spec.componentRef === undefined;
}

export function isMadeFor(source: SourceResource, component: ComponentResource): boolean {
  return component.metadata.labels[madeFor] === source.metadata.uid;
}

/** The build of the component's current code; a component that is not ready has at most an older build. */
export function currentBuild(component: ComponentResource | undefined): ComponentResource["status"]["build"] {
  if (component === undefined || component.status.observedGeneration !== component.metadata.generation) return undefined;
  const isUnready = component.status.conditions?.some(({ type, status }) => type === "Ready" && status === "False") ?? false;
  return isUnready ? undefined : component.status.build;
}
