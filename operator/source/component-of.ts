import { createHash } from "node:crypto";
import type { ComponentResource, SourceResource } from "./resources.ts";

/** Label of what the operator made for a resource: that resource's uid. */
export const madeFor = "headwater.dev/made-for";
/** Annotation of a component made from an address: the generation of the source for which that was read. */
export const madeForGeneration = "headwater.dev/made-for-generation";

const mostCharacters = 63;
const suffix = "-code";

/** Name of the component that the source runs: the one it refers to, else the one made of its own code. */
export function componentNameOf({ metadata, spec }: Pick<SourceResource, "metadata" | "spec">): string {
  return spec.componentRef?.name ?? ownComponentName(metadata.name);
}

/** `<source>-code`; a name that would become too long is cut, and told from others cut alike by a hash of it. */
export function ownComponentName(source: string): string {
  if (source.length + suffix.length <= mostCharacters) return source + suffix;
  const hash = createHash("sha256").update(source).digest("hex").slice(0, 8);
  return `${source.slice(0, mostCharacters - suffix.length - hash.length - 1)}-${hash}${suffix}`;
}

export function hasOwnCode({ spec }: Pick<SourceResource, "spec">): boolean {
  return spec.componentRef === undefined;
}

export function isMadeFor(source: SourceResource, component: ComponentResource): boolean {
  return component.metadata.labels[madeFor] === source.metadata.uid;
}

/** The build of exactly the code that the component holds now: one that is not ready has at most one of older code. */
export function currentBuild(component: ComponentResource | undefined): ComponentResource["status"]["build"] {
  if (component === undefined || component.status.observedGeneration !== component.metadata.generation) return undefined;
  const isUnready = component.status.conditions?.some(({ type, status }) => type === "Ready" && status === "False") ?? false;
  return isUnready ? undefined : component.status.build;
}
