import { nearestName } from "../../domain/nearest-name.ts";

const maxNames = 3;

/** The known names that a wrong one most likely stands for, the nearest first. */
export function nearNames(name: string, known: readonly string[]): readonly string[] {
  const found: string[] = [];
  while (found.length < maxNames) {
    const nearest = nearestName(lastPart(name), known.filter((each) => !found.includes(each)).map(lastPart));
    const next = known.find((each) => !found.includes(each) && lastPart(each) === nearest);
    if (next === undefined) break;
    found.push(next);
  }
  return found;
}

/** `: did you mean a, b?`, or the first names that exist. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = nearNames(name, known);
  if (near.length > 0) return `: did you mean ${near.join(" or ")}?`;
  const some = known.slice(0, 5).join(", ");
  return known.length === 0 ? "" : `: it has ${some}${known.length > 5 ? ` and ${known.length - 5} more` : ""}`;
}

/** Names differ most often in the file, and folders are long. */
const lastPart = (path: string): string => path.split("/").at(-1) ?? path;
