import type { Candidate, Kind, PathIssue } from "./resource.ts";

/** What the API server refuses beyond the schema of the spec, so that a store without an API server refuses the same. */
export function issuesOfRules<S>({ rules = [] }: Kind<S>, candidate: Candidate<S>): readonly PathIssue[] {
  return rules.filter(({ holds }) => !holds(candidate)).map(({ message, field }) => ({ path: field ?? "metadata.name", message }));
}

/** Fields that stay as they were created. */
export function issuesOfChange<S>({ immutable = [] }: Kind<S>, before: S, after: S): readonly PathIssue[] {
  const [old, wanted] = [fieldsOf(before), fieldsOf(after)];
  return immutable
    .filter(({ field }) => JSON.stringify(old.get(field)) !== JSON.stringify(wanted.get(field)))
    .map(({ field, message }) => ({ path: `spec.${field}`, message }));
}

/** These are text, or references whose keys the schema has put in order. */
const fieldsOf = (spec: unknown): ReadonlyMap<string, unknown> => new Map(Object.entries(spec ?? {}));
