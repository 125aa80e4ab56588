import { sha256 } from "../cache/hash.ts";
import type { Import } from "../scan/scan.ts";

/**
 * The set of packages a component needs: keys are folder names below node_modules, values what npm is asked for.
 * Two versions of one package are two keys, the second an npm alias (`npm:axios@0.27`).
 */
export interface Dependencies {
  readonly wanted: Readonly<Record<string, string>>;
  /** The key under which a written package and range is installed. */
  keyOf(name: string, range: string | null): string;
}

/** The platform package's own axios; apart from the component's, so that neither chooses the other's version. */
export const platformAxios = { key: "@headwater/axios", wanted: "npm:axios@^1.7.0" } as const;

export function planDependencies(imports: readonly Import[]): Dependencies {
  const ranges = new Map<string, Set<string | null>>();
  let platform = false;
  for (const { specifier } of imports) {
    // Packages of the @pipedream scope import the platform package themselves.
    if (
      (specifier.kind === "platform" && specifier.module === "platform") ||
      (specifier.kind === "package" && specifier.name.startsWith("@pipedream/"))
    )
      platform = true;
    if (specifier.kind === "package") ranges.set(specifier.name, (ranges.get(specifier.name) ?? new Set()).add(specifier.range));
  }
  const keys = new Map<string, string>();
  const wanted: [string, string][] = platform ? [[platformAxios.key, platformAxios.wanted]] : [];
  for (const [name, set] of ranges) {
    // Sorted, so that the order of imports does not make a different set; no range sorts first and gets the plain name.
    const sorted = [...set].sort((a, b) => ((a ?? "") < (b ?? "") ? -1 : 1));
    for (const [index, range] of sorted.entries()) {
      const key = index === 0 ? name : `@headwater/${name.replaceAll(/[@/]/g, "-").toLowerCase()}-${sha256(range ?? "").slice(0, 8)}`;
      keys.set(written(name, range), key);
      const isAlias = range?.startsWith("npm:") ?? false;
      wanted.push([key, index === 0 || isAlias ? (range ?? "latest") : `npm:${name}@${range ?? "latest"}`]);
    }
  }
  wanted.sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    wanted: Object.fromEntries(wanted),
    keyOf: (name, range) => keys.get(written(name, range)) ?? name,
  };
}

const written = (name: string, range: string | null): string => (range === null ? name : `${name}@${range}`);
