import { labels, type Resource } from "../../crds/resource.ts";
import { idOfResourceName } from "../../domain/ids.ts";

/** The public id: resources made with kubectl get theirs from the operator, as label and status. */
export function publicIdOf(resource: Resource<unknown, { readonly id?: string | undefined }>): string {
  const { name, labels: given } = resource.metadata;
  return resource.status.id ?? given[labels.id] ?? idOfResourceName(name) ?? name;
}

/** RFC 3339 to epoch seconds. */
export function createdAt({ metadata }: Resource): number {
  return epochSeconds(Date.parse(metadata.creationTimestamp));
}

export function epochSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}
