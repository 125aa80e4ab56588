/** The fields read from npm's errors, each where one of its libraries puts it. Their texts come from packages and can be of any length. */
const names = ["code", "message", "uri", "url", "package", "spec", "pkgid", "wanted", "name", "type", "requiredBy"] as const;
const maxCharacters = 1_000;

/** An error of npm's libraries as plain data, which can be sent to another process. */
export function failureFields(error: unknown): Readonly<Record<string, unknown>> {
  // Every field is checked before it is used.
  const fields = (typeof error === "object" && error !== null ? error : { message: String(error) }) as Record<string, unknown>;
  const texts = names.flatMap((name) => (typeof fields[name] === "string" ? [[name, fields[name].slice(0, maxCharacters)]] : []));
  const { distTags } = fields;
  const latest: unknown = typeof distTags === "object" && distTags !== null && "latest" in distTags ? distTags.latest : undefined;
  return { ...Object.fromEntries(texts), ...(typeof latest === "string" && { distTags: { latest: latest.slice(0, maxCharacters) } }) };
}
