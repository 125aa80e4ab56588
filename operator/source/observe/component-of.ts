import type { SourceResource } from "../../../crds/source.ts";
import { ownComponentName } from "../../configured/component.ts";

/** Name of the source's component: the one it refers to, or the one made of its own code. */
export function componentNameOf({ metadata, spec }: Pick<SourceResource, "metadata" | "spec">): string {
  return spec.componentRef?.name ?? ownComponentName(metadata.name);
}

export function hasOwnCode({ spec }: Pick<SourceResource, "spec">): boolean {
  return spec.componentRef === undefined;
}
