import type { AccountSpec, AccountTokens } from "../../crds/account.ts";
import { accessTokenField } from "./credentials.ts";

/** Ahead of expiry by this much, or by a fifth of a shorter life. */
const aheadMs = 5 * 60_000;
/** A service that gives shorter ones is not asked more often. */
const shortestLifeMs = 5_000;
/** Where the service does not say how long a token lasts. */
const unknownLifeMs = 60 * 60_000;

/**
 * When the access token is to be refreshed, epoch ms; in the past: now. RFC 6749, section 5.1, only recommends `expires_in`, so a
 * token without one is refreshed every hour; one that was given without a time, at once.
 */
export function refreshDueAt(spec: AccountSpec, tokens: AccountTokens | undefined): number {
  if (tokens?.accessToken === undefined) {
    const given = spec.oauth?.expiresAt === undefined ? Number.NaN : Date.parse(spec.oauth.expiresAt);
    return spec.credentials[accessTokenField] === undefined || Number.isNaN(given) ? 0 : given - aheadMs;
  }
  const since = Date.parse(tokens.refreshedAt ?? "");
  if (Number.isNaN(since)) return 0;
  const until = tokens.expiresAt === undefined ? since + unknownLifeMs : Date.parse(tokens.expiresAt);
  return Math.max(since + shortestLifeMs, until - Math.min(aheadMs, (until - since) / 5));
}

const firstRetryMs = 5_000;
const longestRetryMs = 5 * 60_000;

/** Pause after the n-th failure in a row, counted from 1; the service's own wish counts when it is longer, up to an hour. */
export function retryAfterMs(failures: number, wishedMs: number | undefined, random: number): number {
  const pause = Math.min(longestRetryMs, firstRetryMs * 2 ** (failures - 1));
  return Math.max(Math.min(wishedMs ?? 0, 3_600_000), pause) * (1 + random / 4);
}

/** What a service has refused it refuses again; it is asked now and then, in case the mistake was its own. */
export const refusedRetryMs = 60 * 60_000;
