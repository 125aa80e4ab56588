import { assignedId, labelledId } from "../../crds/public-id.ts";
import type { Resource } from "../../crds/resource.ts";

/** The public id. A resource made with kubectl has its name until the operator has given it an id: a name may look like the id of another. */
export function publicIdOf(resource: Resource): string {
  return assignedId(resource) ?? labelledId(resource) ?? resource.metadata.name;
}

/** RFC 3339 to epoch seconds. */
export function createdAt({ metadata }: Resource): number {
  return epochSeconds(Date.parse(metadata.creationTimestamp));
}

export function epochSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}
