const maxLength = 2_048;

/** The text at a path such as `data.photos.0.url` of parsed JSON; undefined if there is none, or it is too long to be a name or an address. */
export function textAt(json: unknown, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const found = valueAt(json, path);
  if (typeof found === "number") return String(found);
  return typeof found === "string" && found !== "" && found.length <= maxLength ? found : undefined;
}

/** The value at a path of parsed JSON; undefined if there is none. */
export function valueAt(json: unknown, path: string): unknown {
  let found = json;
  for (const step of path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[step]; // It has the property.
  }
  return found;
}
