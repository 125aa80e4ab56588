const maxNameLength = 40;

/** The known name that was probably meant: at most a third of the letters differ; undefined if there is none. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > maxNameLength) return undefined;
  const plain = plainOf(name);
  const [nearest] = known
    .map((candidate) => ({ candidate, distance: editDistance(plain, plainOf(candidate)) }))
    .filter(({ distance }) => distance <= Math.max(1, Math.floor(plain.length / 3)))
    .toSorted((a, b) => a.distance - b.distance);
  return nearest?.candidate;
}

/** `dryRun`, `dry-run` and `dry_run` are the same name to a person. */
const plainOf = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, "");

/** Levenshtein's distance, row by row. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_value, index) => index);
  for (let index = 0; index < from.length; index++) {
    const next = [index + 1];
    for (let column = 0; column < to.length; column++) {
      const replaced = (row[column] ?? 0) + (from[index] === to[column] ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
