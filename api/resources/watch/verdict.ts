import type { Condition, Resource } from "../../../crds/resource.ts";

/** The operator's result for a generation of a resource. */
export interface Verdict<S, T> {
  readonly outcome: "ready" | "stalled" | "gone";
  readonly reason: string;
  readonly message: string;
  readonly resource: Resource<S, T> | undefined;
}

export interface Conditioned {
  readonly conditions?: readonly Condition[] | undefined;
}

/** The result for that generation or a later one; undefined while the operator is working on it. */
export function verdictOf<S, T extends Conditioned>(resource: Resource<S, T> | undefined, generation: number): Verdict<S, T> | undefined {
  if (resource === undefined || resource.metadata.deletionTimestamp !== undefined)
    return { outcome: "gone", reason: "Deleted", message: "it was deleted in the meantime", resource };
  if (resource.metadata.generation < generation) return undefined;
  const holds = (type: Condition["type"]): Condition | undefined =>
    resource.status.conditions?.find((each) => each.type === type && each.status === "True" && each.observedGeneration >= generation);
  const ready = holds("Ready");
  if (ready !== undefined) return { outcome: "ready", reason: ready.reason, message: ready.message, resource };
  const stalled = holds("Stalled");
  return stalled === undefined ? undefined : { outcome: "stalled", reason: stalled.reason, message: stalled.message, resource };
}
