import type { ResourceStore } from "../../crds/resource-store.ts";
import { sourceKind, type SourceSpec } from "../../crds/source.ts";
import { changeResource } from "../resources/change.ts";
import type { SourceResource } from "../resources/source.ts";

/** @throws Conflict, InvalidInput, NotFound */
export function changeSource(
  store: ResourceStore,
  source: SourceResource,
  change: (now: SourceResource) => Promise<SourceSpec> | SourceSpec,
): Promise<SourceResource> {
  return changeResource(sourceKind, store, source, change);
}
