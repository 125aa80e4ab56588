import { hash } from "node:crypto";
import type { ComponentResource } from "../../crds/component.ts";
import type { Resource } from "../../crds/resource.ts";

/** Label of a resource made by the operator: uid of the source or workflow it was made for. */
export const madeFor = "headwater.dev/made-for";
/** Annotation of a component made from a URL or from the registry: generation of the resource for which that was read. */
export const madeForGeneration = "headwater.dev/made-for-generation";

const maxNameLength = 63;
const suffix = "-code";

/** `<maker>-code`. Long names are truncated and made unique with a hash. */
export function ownComponentName(maker: string): string {
  if (maker.length + suffix.length <= maxNameLength) return maker + suffix;
  const digest = hash("sha256", maker).slice(0, 8);
  return `${maker.slice(0, maxNameLength - suffix.length - digest.length - 1)}-${digest}${suffix}`;
}

export function isMadeFor(maker: Resource, made: Resource): boolean {
  return made.metadata.labels[madeFor] === maker.metadata.uid;
}

/** The build of the component's current code; a component that is not ready has at most an older build. */
export function currentBuild(component: ComponentResource | undefined): ComponentResource["status"]["build"] {
  if (component === undefined || component.status.observedGeneration !== component.metadata.generation) return undefined;
  const isUnready = component.status.conditions?.some(({ type, status }) => type === "Ready" && status === "False") ?? false;
  return isUnready ? undefined : component.status.build;
}
