/** Longer texts are not misspelled names. */
const maxLength = 100;

/**
 * Bounds the work of hints in one answer, in pairs of letters that are compared: callers choose the names, and how many there are. Beyond
 * the bound there are no hints.
 */
export class HintBudget {
  #left = 500_000;

  /** @returns false if the work exceeds what is left: do not do it */
  spend(comparisons: number): boolean {
    this.#left -= comparisons;
    return this.#left >= 0;
  }
}

/**
 * Returns the known name that `name` is most likely a misspelling of, or undefined when none is close. Case, `_` and `-` do not count
 * (`componentCode` is `component_code`). A name of up to five letters may differ by one edit, a longer one by a third of its letters; something must be the same.
 * @param budget shared by the hints of one answer
 */
export function nearestName(name: string, known: Iterable<string>, budget = new HintBudget()): string | undefined {
  if (name.length > maxLength) return undefined;
  const plain = plainName(name);
  let nearest: { readonly candidate: string; readonly edits: number } | undefined;
  for (const candidate of known) {
    if (candidate.length > maxLength) continue;
    const other = plainName(candidate);
    const most = Math.min(maxEdits(plain, other), candidate.length - 1, (nearest?.edits ?? Infinity) - 1);
    const isFar = Math.abs(plain.length - other.length) > most;
    if (!budget.spend(isFar ? 1 : plain.length * other.length + 1)) break;
    if (isFar) continue;
    const edits = editDistance(plain, other);
    if (edits <= most) nearest = { candidate, edits };
  }
  return nearest?.candidate;
}

/** `: did you mean deploy?`, or `otherwise` when no known name is close. */
export function suggestion(name: string, known: Iterable<string>, otherwise = "", budget?: HintBudget): string {
  const nearest = nearestName(name, known, budget);
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
