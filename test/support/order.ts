/**
 * What an ordered webhook heard, against the order of commits: each attempt is for what was attempted last, for what comes next, or, after
 * a crash, for something before, from where it goes on again. Returns what is wrong; undefined: nothing.
 */
export function disorder(expected: readonly string[], heard: readonly string[]): string | undefined {
  const places = new Map(expected.map((name, index) => [name, index]));
  let last = -1;
  for (const [n, name] of heard.entries()) {
    const place = places.get(name);
    if (place === undefined) return `attempt ${n} is for ${name}, which nobody sent`;
    if (place > last + 1) return `attempt ${n} is for ${name} (${place}), before ${expected[last + 1]} (${last + 1})`;
    last = place;
  }
  return last === expected.length - 1 ? undefined : `the last attempt is for ${expected[last]} (${last} of ${expected.length - 1})`;
}

/** How often it went back: once for each crash at most. */
export function returns(expected: readonly string[], heard: readonly string[]): number {
  const places = heard.map((name) => expected.indexOf(name));
  return places.filter((place, n) => n > 0 && place < (places[n - 1] ?? 0)).length;
}
