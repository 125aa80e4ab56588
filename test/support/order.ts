/**
 * Compares the attempts of an ordered webhook with the order of commits. Each attempt must be for the same event as the last one, for the
 * next event, or, after a crash, for an earlier event, from which the order continues. Returns the first mistake, or undefined.
 */
export function disorder(expected: readonly string[], heard: readonly string[]): string | undefined {
  const places = new Map(expected.map((name, index) => [name, index]));
  let last = -1;
  for (const [n, name] of heard.entries()) {
    const place = places.get(name);
    if (place === undefined) return `attempt ${n} is for ${name}, which was not sent`;
    if (place > last + 1) return `attempt ${n} is for ${name} (${place}), before ${expected[last + 1]} (${last + 1})`;
    last = place;
  }
  return last === expected.length - 1 ? undefined : `the last attempt is for ${expected[last]} (${last} of ${expected.length - 1})`;
}

/** Counts how often the order went back to an earlier event: at most once per crash. */
export function returns(expected: readonly string[], heard: readonly string[]): number {
  const places = heard.map((name) => expected.indexOf(name));
  return places.filter((place, n) => n > 0 && place < (places[n - 1] ?? 0)).length;
}
