/**
 * The one place that looks into a resourceVersion. Both stores number their changes with one growing sequence: Postgres by its
 * design, Kubernetes since KEP-5504 declares resource versions comparable as decimal numbers (1.35).
 * @returns negative when `a` is older than `b`, 0 when they are the same
 */
export function compareVersions(a: string, b: string): number {
  if (a === b) return 0;
  if (!decimal.test(a) || !decimal.test(b)) return 1; // Unknown order: what was told last counts as newer.
  if (a.length !== b.length) return a.length - b.length;
  return BigInt(a) < BigInt(b) ? -1 : 1;
}

/** Without leading zeros, so that a longer one is larger. */
const decimal = /^(0|[1-9]\d*)$/;
