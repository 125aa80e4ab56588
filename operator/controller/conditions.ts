import type { Condition } from "../../crds/resource.ts";
import { canonicalJson } from "../../domain/canonical-json.ts";

export type ConditionInput = Omit<Condition, "lastTransitionTime">;

/** Replaces conditions by type. `lastTransitionTime` changes only with the condition's status. */
export function setConditions(conditions: readonly Condition[], inputs: readonly ConditionInput[], now: number): Condition[] {
  const next = new Map(conditions.map((condition) => [condition.type, condition]));
  for (const input of inputs) {
    const before = next.get(input.type);
    const lastTransitionTime = before?.status === input.status ? before.lastTransitionTime : new Date(now).toISOString();
    next.set(input.type, { ...input, lastTransitionTime });
  }
  return [...next.values()];
}

/** Compares regardless of the order of fields. */
export function sameStatus(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}
