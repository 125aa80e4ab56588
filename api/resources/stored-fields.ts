/**
 * Reads a field of a stored resource that may violate its schema, because another version accepted it (`Resource.invalid`, which lists
 * do not have). Such a resource is shown as far as possible, so that it does not break a whole list.
 */
export function readText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The fields of an object; none of anything else. */
export function readFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
