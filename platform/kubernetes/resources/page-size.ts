const maxPageSize = 500;
const firstPageSize = 50;
/** JSON bytes. Text, values and resources of a page are in memory together, about four times as much. */
const pageBytes = 4 * 1024 * 1024;

export interface PageSizes {
  /** Page size for the kind. */
  of(kind: string): number;
  /** Learns from a received page. */
  learn(kind: string, items: readonly unknown[]): void;
}

/**
 * Sizes pages by weight: a Component may contain a mebibyte of code, and five hundred of those would exceed the operator's memory. The
 * first page is small; the heaviest average so far determines the size.
 */
export function createPageSizes(): PageSizes {
  const heaviest = new Map<string, number>();
  return {
    of(kind) {
      const bytes = heaviest.get(kind);
      return bytes === undefined ? firstPageSize : Math.max(1, Math.min(maxPageSize, Math.floor(pageBytes / bytes)));
    },
    learn(kind, items) {
      if (items.length === 0) return;
      const bytes = items.reduce<number>((sum, item) => sum + roughBytes(item), 0) / items.length;
      heaviest.set(kind, Math.max(bytes, heaviest.get(kind) ?? 0));
    },
  };
}

/** Approximates the length of the JSON without serializing. */
export function roughBytes(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 5;
  let bytes = 2;
  for (const [name, part] of Object.entries(value)) bytes += (Array.isArray(value) ? 1 : name.length + 4) + roughBytes(part);
  return bytes;
}
