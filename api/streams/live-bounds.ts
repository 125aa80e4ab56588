import type { Rate } from "../../domain/limits/token-bucket.ts";

/** What one live search may use, and all of a process. Beyond it, the stream says what was skipped. */
export const liveBounds = {
  /** Items that are sent. */
  items: { perSecond: 500, burst: 2_000 },
  /**
   * Cost of what is compared, a second, of all live searches of a user: each byte of a commit that is read, 200 for each of its items, 600
   * more for one that matches, and the characters of items for each word of the query.
   */
  comparisons: { total: 32 * 2 ** 20, share: 8 * 2 ** 20 },
  /** The same, of a turn of the event loop. A commit is decoded at once, which may cost more. */
  costPerTurn: 2 ** 20,
  /** Matches that wait until it is known whether the caller may see their source, of about a kilobyte each: of all users, and of one. */
  pending: { total: 20_000, share: 5_000 },
  /** Of the commits between the last connection and this one. */
  gap: { commits: 1_000, bytes: 8 * 2 ** 20, items: 1_000 },
  /** Gaps that are read at the same time, and those of one user. */
  gaps: { permits: 8, permitsPerKey: 2 },
} as const;

/** Those of one live search alone. */
export interface LiveBounds {
  readonly items: Rate;
  readonly gap: Readonly<Record<keyof typeof liveBounds.gap, number>>;
}
