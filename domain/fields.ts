/** The parameters `include` and `exclude`: comma lists of top-level field names. Names that no item has select nothing. */
export interface FieldQuery {
  readonly include?: string | undefined;
  readonly exclude?: string | undefined;
}

/** Keeps the included fields, then drops the excluded ones; without either, the item stays as it is. */
export function selectFields<Item extends object>(item: Item, query: FieldQuery): Partial<Item> {
  const include = parseList(query.include);
  const exclude = parseList(query.exclude);
  if (include.size === 0 && exclude.size === 0) return item;
  const kept = Object.entries(item).filter(([name]) => (include.size === 0 || include.has(name)) && !exclude.has(name));
  return Object.fromEntries(kept) as Partial<Item>; // a subset of the item's own entries
}

function parseList(text: string | undefined): ReadonlySet<string> {
  return new Set(
    (text ?? "")
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== ""),
  );
}
