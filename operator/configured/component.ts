import { hash } from "node:crypto";
import type { ComponentResource } from "../../crds/component.ts";
import { madeFor, type Resource } from "../../crds/resource.ts";

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
