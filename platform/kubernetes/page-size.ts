const largestPage = 500;
const firstPage = 50;
/** Of JSON. Text, values and resources of a page are in memory at once, about four times as much. */
const pageBytes = 4 * 1024 * 1024;

export interface PageSizes {
  /** How many objects of the kind to ask for at once. */
  of(kind: string): number;
  /** From a page that came. */
  learn(kind: string, items: readonly unknown[]): void;
}

/**
 * Pages of a whole kind are cut by what they weigh: a Component may hold a mebibyte of code, and five hundred of those would be
 * more memory than the operator has. The first page is small, and the heaviest so far decides.
 */
export function createPageSizes(): PageSizes {
  const heaviest = new Map<string, number>();
  return {
    of(kind) {
      const bytes = heaviest.get(kind);
      return bytes === undefined ? firstPage : Math.max(1, Math.min(largestPage, Math.floor(pageBytes / bytes)));
    },
    learn(kind, items) {
      if (items.length === 0) return;
      const bytes = items.reduce<number>((sum, item) => sum + roughBytes(item), 0) / items.length;
      heaviest.set(kind, Math.max(bytes, heaviest.get(kind) ?? 0));
    },
  };
}

/** Near enough to the length of its JSON, without making it. */
export function roughBytes(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 5;
  let bytes = 2;
  for (const [name, part] of Object.entries(value)) bytes += (Array.isArray(value) ? 1 : name.length + 4) + roughBytes(part);
  return bytes;
}
