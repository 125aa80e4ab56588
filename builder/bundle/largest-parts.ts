import type { Metafile } from "esbuild";
import { modulePathOf } from "../scan/code-frame.ts";
import type { Dependencies } from "../npm/dependencies.ts";

/** A package, or the component's own files, with its bytes in a bundle. */
export interface BundlePart {
  readonly name: string;
  readonly bytes: number;
}

const maxParts = 5;
/** Of all: what takes less is not worth a word. */
const minShare = 0.01;

/** The largest parts of a bundle, the largest first. */
export function partsBySize({ outputs }: Metafile, { wanted }: Pick<Dependencies, "wanted">): readonly BundlePart[] {
  const bytesByName = new Map<string, number>();
  for (const { inputs } of Object.values(outputs)) {
    for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
      const name = partOf(file, wanted);
      bytesByName.set(name, (bytesByName.get(name) ?? 0) + bytesInOutput);
    }
  }
  const total = bytesByName.values().reduce((sum, bytes) => sum + bytes, 0);
  const parts = [...bytesByName].map(([name, bytes]) => ({ name, bytes })).filter(({ bytes }) => bytes > total * minShare);
  return parts.sort((a, b) => b.bytes - a.bytes).slice(0, maxParts);
}

/** A package inside another one's folder is counted separately: it may be the one to avoid. */
function partOf(file: string, wanted: Dependencies["wanted"]): string {
  if (modulePathOf(file) !== undefined) return "the component's own files";
  const key = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];
  if (key === undefined) return "Headwater's own modules";
  // Another version of a package, or the platform's, is installed under a name of ours.
  return /^npm:((?:@[^/]+\/)?[^/@]+)/.exec(wanted[key] ?? "")?.[1] ?? key;
}
