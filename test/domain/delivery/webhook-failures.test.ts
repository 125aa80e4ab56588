import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { disabledOf, recordFailure, type WebhookFailures } from "../../../domain/delivery/webhook-failures.ts";

const day = 86_400_000;
const endpoint = { id: "wh_1", url: "https://a.test/" };
const failure = (at: number, isGone = false) => ({ at, isGone, error: "the endpoint answered 503" });

/** What is known after these failures, days after the first; five days disable. */
function after(days: readonly number[], to: typeof endpoint & { readonly enabledAt?: number } = endpoint) {
  return days.reduce<WebhookFailures | undefined>((known, at) => recordFailure(known, to, failure(at * day), 5 * day), undefined);
}

describe("an endpoint", () => {
  it("is disabled by the failure that comes five days after the first", () => {
    expect(disabledOf(after([0, 1, 2, 3, 4, 4.9]), endpoint)).toBeUndefined();
    expect(disabledOf(after([0, 1, 2, 3, 4, 5]), endpoint)).toMatchObject({
      at: 5 * day,
      reason: "EndpointFailing",
      message: expect.stringContaining(
        'nothing has arrived at the endpoint of webhook wh_1 for 5 days; the last attempt: the endpoint answered 503. It is disabled, and what is for it becomes dead letters, until PUT /v1/webhooks/wh_1 with {"active": true}',
      ),
    });
  });

  it("is disabled at once by a 410", () => {
    expect(disabledOf(recordFailure(undefined, endpoint, failure(7, true), 5 * day), endpoint)).toMatchObject({
      at: 7,
      reason: "EndpointGone",
    });
  });

  it("is not blamed for a time in which nothing was posted", () => {
    expect(disabledOf(after([0, 10, 11]), endpoint)).toBeUndefined();
    expect(after([0, 10, 11])?.since).toBe(10 * day);
  });

  it("begins afresh with another URL, and when it is enabled again", () => {
    const known = after([0, 1, 2, 3, 4, 5]);
    const moved = { ...endpoint, url: "https://b.test/" };
    const enabled = { ...endpoint, enabledAt: 5 * day + 1 };
    for (const to of [moved, enabled]) {
      expect(disabledOf(known, to)).toBeUndefined();
      expect(recordFailure(known, to, failure(6 * day), 5 * day)).toEqual({
        webhook: "wh_1",
        url: to.url,
        since: 6 * day,
        last: 6 * day,
      });
    }
  });

  it("that fails often has little to remember", () => {
    const known = after([0]);
    expect(recordFailure(known, endpoint, failure(60_000), 5 * day)).toBe(known);
    expect(recordFailure(known, endpoint, failure(day), 5 * day)).toMatchObject({ since: 0, last: day });
  });

  /** Oracle: the failures since the last gap of more than two days, of which the first is five days before. Gaps are far from the bound. */
  it("is disabled exactly when it has failed for five days without a long silence", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(0.25, 1, 1.5, 2.5, 4), { maxLength: 40 }), (gaps) => {
        let [at, since, isDue] = [0, 0, false];
        const times = [0];
        for (const gap of gaps) {
          at += gap;
          if (gap > 2 && !isDue) since = at;
          isDue ||= at - since >= 5;
          times.push(at);
          if (isDue) break; // Nothing is posted to it any more.
        }
        expect(disabledOf(after(times), endpoint) !== undefined).toBe(isDue);
      }),
    );
  });
});
