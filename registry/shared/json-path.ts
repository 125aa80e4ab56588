/** `data.items[0].id`, `$.data["a b"]`; an empty path is the value itself. */
export function keysOf(path: string): readonly string[] {
  const keys: string[] = [];
  let rest = path.trim().replace(/^\$\.?/, "");
  while (rest !== "") {
    const [all, bare, index, quoted, single] = /^(?:\.?([^.[\]]+)|\[(\d+)\]|\["([^"]*)"\]|\['([^']*)'\])/.exec(rest) ?? [];
    const key = bare ?? index ?? quoted ?? single;
    if (all === undefined || key === undefined)
      throw new Error(`the path "${path}" cannot be read at "${rest}": it must look like data.items[0].id`);
    keys.push(key);
    rest = rest.slice(all.length);
  }
  return keys;
}

/** What lies at the path; undefined when there is nothing. What objects inherit is nothing. */
export function valueAt(value: unknown, path: string): unknown {
  return keysOf(path).reduce<unknown>(
    (at, key) => (typeof at === "object" && at !== null && Object.hasOwn(at, key) ? (at as Record<string, unknown>)[key] : undefined),
    value,
  );
}
