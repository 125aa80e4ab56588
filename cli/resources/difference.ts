/** Lines of two texts, with `-` before those that go and `+` before those that come; a few equal ones around them. */
export function lineDifference(before: string, after: string, context = 3): string[] {
  const [old, next] = [linesOf(before), linesOf(after)];
  const marked = mark(old, next);
  const near = marked.map((_line, index) =>
    marked.slice(Math.max(0, index - context), index + context + 1).some((line) => !line.startsWith(" ")),
  );
  return marked.flatMap((line, index) => (near[index] === true ? [line] : near[index - 1] === true ? ["  …"] : []));
}

const linesOf = (text: string): string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

/** The longest common subsequence, from the end; texts are at most a component's code. */
function mark(old: readonly string[], next: readonly string[]): string[] {
  const start = countWhile((index) => index < old.length && old[index] === next[index]);
  const end = countWhile((index) => index < Math.min(old.length, next.length) - start && old.at(-1 - index) === next.at(-1 - index));
  const [a, b] = [old.slice(start, old.length - end), next.slice(start, next.length - end)];
  const same = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);
  return [...same(old.slice(0, start)), ...markMiddle(a, b), ...same(old.slice(old.length - end))];
}

const countWhile = (holds: (index: number) => boolean): number => {
  let count = 0;
  while (holds(count)) count++;
  return count;
};

const maxCells = 4_000_000;

function markMiddle(a: readonly string[], b: readonly string[]): string[] {
  const replaced = [...a.map((line) => `- ${line}`), ...b.map((line) => `+ ${line}`)];
  if (a.length === 0 || b.length === 0 || a.length * b.length > maxCells) return replaced;
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = a.length - 1; row >= 0; row--) {
    for (let column = b.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        a[row] === b[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  return walk(a, b, at);
}

function walk(a: readonly string[], b: readonly string[], at: (row: number, column: number) => number): string[] {
  const marked: string[] = [];
  let [row, column] = [0, 0];
  while (row < a.length || column < b.length) {
    if (row < a.length && column < b.length && a[row] === b[column]) {
      marked.push(`  ${a[row]}`);
      row++;
      column++;
    } else if (column >= b.length || (row < a.length && at(row + 1, column) >= at(row, column + 1))) marked.push(`- ${a[row++]}`);
    else marked.push(`+ ${b[column++]}`);
  }
  return marked;
}
