import type { AccountSpec, AccountTokens } from "../../crds/account.ts";
import { accessTokenField } from "./credentials.ts";

/** Refreshes this long before expiry, or a fifth of the lifetime before if that is shorter. */
const refreshAheadMs = 5 * 60_000;
/** Bounds how often a service that issues shorter-lived tokens is asked. */
const minLifetimeMs = 5_000;
/** Assumed lifetime when the service does not return one. */
const assumedLifetimeMs = 60 * 60_000;

/**
 * When to refresh the access token, epoch ms; a time in the past means now. `expires_in` is only recommended (RFC 6749, section
 * 5.1): a refreshed token without it is refreshed every hour, a configured token without an expiry at once.
 */
export function refreshDueAt(spec: AccountSpec, tokens: AccountTokens | undefined): number {
  if (tokens?.accessToken === undefined) {
    const expiresAt = spec.oauth?.expiresAt === undefined ? Number.NaN : Date.parse(spec.oauth.expiresAt);
    return spec.credentials[accessTokenField] === undefined || Number.isNaN(expiresAt) ? 0 : expiresAt - refreshAheadMs;
  }
  const since = Date.parse(tokens.refreshedAt ?? "");
  if (Number.isNaN(since)) return 0;
  const until = tokens.expiresAt === undefined ? since + assumedLifetimeMs : Date.parse(tokens.expiresAt);
  return Math.max(since + minLifetimeMs, until - Math.min(refreshAheadMs, (until - since) / 5));
}

const firstRetryMs = 5_000;
const maxRetryMs = 5 * 60_000;

/** Delay after the n-th consecutive failure, counted from 1. The service's `Retry-After` applies when it is longer, up to an hour. */
export function retryAfterMs(failures: number, requestedMs: number | undefined, random: number): number {
  const pause = Math.min(maxRetryMs, firstRetryMs * 2 ** (failures - 1));
  return Math.max(Math.min(requestedMs ?? 0, 3_600_000), pause) * (1 + random / 4);
}

/** A refusal rarely ends without a change by the user. Retries cover a mistake of the service. */
export const refusedRetryMs = 60 * 60_000;
