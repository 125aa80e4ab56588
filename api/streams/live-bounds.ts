import type { Rate } from "../../domain/limits/token-bucket.ts";

/** What one live search may use, and all of a process. Beyond it, the stream says what was skipped. */
export const liveBounds = {
  /** Items that are sent. */
  items: { perSecond: 500, burst: 2_000 },
  /** Bytes of commits that are compared, a second. */
  commits: { total: 32 * 2 ** 20, share: 4 * 2 ** 20 },
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
