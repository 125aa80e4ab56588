/**
 * The fields of a component's status that lists and searches read: `{definition, codeHash, updatedAt}`, as JSON accepted by `jsonb`. Null
 * for other statuses.
 */
export function listedComponent(status: unknown): string | null {
  const { build, updatedAt } = fieldsOf(status);
  const { definition, codeHash } = fieldsOf(build);
  if (typeof definition !== "object" || definition === null) return null;
  return JSON.stringify({ definition: storable(definition), codeHash, updatedAt: updatedAt ?? null });
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** `jsonb` rejects U+0000 and unpaired surrogates, also in field names. */
function storable(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll("\0", "\uFFFD").toWellFormed();
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [storable(name), storable(part)]));
}
