import type { Candidate, Kind, PathIssue } from "./resource.ts";

/** Applies the rules that the API server checks beyond the spec's schema, so that a store without an API server refuses the same. */
export function issuesOfRules<S>({ rules = [] }: Kind<S>, candidate: Candidate<S>): readonly PathIssue[] {
  return rules.filter(({ holds }) => !holds(candidate)).map(({ message, field }) => ({ path: field ?? "metadata.name", message }));
}

/** Changes of immutable fields. */
export function issuesOfChange<S>({ immutable = [] }: Kind<S>, before: S, after: S): readonly PathIssue[] {
  const [old, changed] = [fieldsOf(before), fieldsOf(after)];
  return immutable
    .filter(({ field }) => JSON.stringify(old.get(field)) !== JSON.stringify(changed.get(field)))
    .map(({ field, message }) => ({ path: `spec.${field}`, message }));
}

/** Immutable fields are strings, or references whose keys the schema has ordered. */
const fieldsOf = (spec: unknown): ReadonlyMap<string, unknown> => new Map(Object.entries(spec ?? {}));
