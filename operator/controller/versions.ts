/**
 * Compares resource versions; the only place that interprets them. Both stores number changes with one growing sequence: Postgres by
 * design, Kubernetes since KEP-5504 (1.35) defines resource versions as comparable decimal numbers.
 * @returns negative when `a` is older than `b`, 0 when equal
 */
export function compareVersions(a: string, b: string): number {
  if (a === b) return 0;
  if (!decimal.test(a) || !decimal.test(b)) return 1; // Unknown order: the version received last counts as newer.
  if (a.length !== b.length) return a.length - b.length;
  return BigInt(a) < BigInt(b) ? -1 : 1;
}

/** Without leading zeros, so that a longer number is larger. */
const decimal = /^(0|[1-9]\d*)$/;
