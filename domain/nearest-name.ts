/** Longer texts are not misspelled names, and their distance would be expensive to compute. */
const maxLength = 100;

/**
 * Returns the known name that `name` is most likely a misspelling of, or undefined when none is close. Case, `_` and `-` do not count
 * (`componentCode` is `component_code`). A name of up to five letters may differ by one edit, a longer one by a third of its letters; something must be the same.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > maxLength) return undefined;
  const plain = plainName(name);
  const [nearest] = known
    .map((candidate) => ({ candidate, edits: editDistance(plain, plainName(candidate)) }))
    .filter(({ candidate, edits }) => edits <= maxEdits(plain, plainName(candidate)) && edits < candidate.length)
    .toSorted((a, b) => a.edits - b.edits);
  return nearest?.candidate;
}

/** `: did you mean deploy?`, or `otherwise` when no known name is close. */
export function suggestion(name: string, known: readonly string[], otherwise = ""): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? otherwise : `: did you mean ${nearest}?`;
}

const plainName = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, "");

const maxEdits = (a: string, b: string): number => Math.max(1, Math.floor(Math.max(a.length, b.length) / 3));

/** Levenshtein distance in which two swapped neighbours are one edit (optimal string alignment). */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (last[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const swapped = isSwap ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      current.push(Math.min(replaced, swapped, (last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    [beforeLast, last] = [last, current];
  }
  return last[to.length] ?? 0;
}
