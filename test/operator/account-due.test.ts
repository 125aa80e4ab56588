import { describe, expect, it } from "vitest";
import type { AccountSpec } from "../../crds/account.ts";
import { refreshDueAt, retryAfterMs } from "../../operator/account/due.ts";

const reference = { sealed: "jwe" };
const at = (seconds: number): string => new Date(seconds * 1_000).toISOString();
const spec = (oauth: Partial<NonNullable<AccountSpec["oauth"]>> = {}, credentials = {}): AccountSpec => ({
  app: "shop",
  credentials,
  oauth: { tokenUrl: "https://shop.test/token", clientId: "c", refreshToken: reference, ...oauth },
});
const withToken = { oauth_access_token: reference };
const kept = { accessToken: reference, refreshedAt: at(1_000) };

describe("an access token is refreshed", () => {
  it.each([
    ["at once, when there is none", spec({ expiresAt: at(10_000) }), undefined, 0],
    ["at once, when it was given without a time", spec({}, withToken), undefined, 0],
    ["at once, when it was given with a time that is none", spec({ expiresAt: "2026-13-01T00:00:00Z" }, withToken), undefined, 0],
    ["five minutes before the given end", spec({ expiresAt: at(10_000) }, withToken), {}, 9_700_000],
    ["five minutes before the end that the service said", spec({}, withToken), { ...kept, expiresAt: at(4_600) }, 4_300_000],
    ["after four fifths of a short life", spec(), { ...kept, expiresAt: at(1_010) }, 1_008_000],
    ["after most of an hour, when the service does not say", spec(), kept, 4_300_000],
    ["at once, if the time of the last refresh is unknown", spec(), { accessToken: reference, expiresAt: at(10_000) }, 0],
    ["after five seconds, when it came expired", spec(), { ...kept, expiresAt: at(900) }, 1_005_000],
    ["after five seconds, when it lasts one", spec(), { ...kept, expiresAt: at(1_001) }, 1_005_000],
  ] as const)("%s", (_when, given, tokens, due) => {
    expect(refreshDueAt(given, tokens)).toBe(due);
  });
});

describe("the pause after failures", () => {
  it("doubles from 5 seconds to 5 minutes, with jitter", () => {
    expect([1, 2, 3, 7, 50].map((failures) => retryAfterMs(failures, undefined, 0))).toEqual([5_000, 10_000, 20_000, 300_000, 300_000]);
    expect(retryAfterMs(1, undefined, 1)).toBe(6_250);
  });

  it("is the service's Retry-After if that is longer, at most an hour", () => {
    expect(retryAfterMs(1, 60_000, 0)).toBe(60_000);
    expect(retryAfterMs(3, 1, 0)).toBe(20_000);
    expect(retryAfterMs(1, 999_999_000, 0)).toBe(3_600_000);
  });
});
