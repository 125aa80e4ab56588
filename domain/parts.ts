/** Stored bytes of an item, without the item itself. */
export interface ItemSize {
  readonly id: string;
  readonly bytes: number;
}

/** Consecutive items with at most so many bytes together, or a single item with more. */
export function partsOf<Item extends { readonly bytes: number }>(items: readonly Item[], maxBytes: number): readonly (readonly Item[])[] {
  const parts: Item[][] = [];
  let bytes = Infinity;
  for (const item of items) {
    bytes += item.bytes;
    if (bytes > maxBytes) {
      parts.push([]);
      bytes = item.bytes;
    }
    parts.at(-1)?.push(item);
  }
  return parts;
}
