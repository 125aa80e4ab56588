import { labels, type Resource } from "./resource.ts";

/** A public id is the one in the status, which only the operator writes: users write names, labels and annotations. */
export function assignedId({ status }: Resource): string | undefined {
  const id = typeof status === "object" && status !== null && "id" in status ? status.id : undefined;
  return typeof id === "string" ? id : undefined;
}

/**
 * The id that the API has given a new resource, as label, until the operator has written it into the status. Undefined for a resource whose
 * spec breaks its schema: the API creates none.
 */
export function labelledId(resource: Resource): string | undefined {
  return assignedId(resource) === undefined && resource.invalid === undefined ? resource.metadata.labels[labels.id] : undefined;
}

/**
 * Of the resources of a kind whose label has this id, returns the one with the public id: that whose status has it. Otherwise a new one, if
 * there is only one: where several claim an id, none has it.
 */
export function resourceWithId<R extends Resource>(id: string, labelled: readonly R[]): R | undefined {
  const assigned = labelled.filter((resource) => assignedId(resource) === id);
  if (assigned.length > 0) return assigned.length === 1 ? assigned[0] : undefined;
  const starting = labelled.filter((resource) => labelledId(resource) === id);
  return starting.length === 1 ? starting[0] : undefined;
}
