/**
 * What is stored may not be of its schema's form: another version of that may have let it in (`Resource.invalid`, which lists do not
 * keep). One such resource is shown as far as it can be, since it must not hide a whole list.
 */
export function readText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The fields of an object; none of anything else. */
export function readFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
