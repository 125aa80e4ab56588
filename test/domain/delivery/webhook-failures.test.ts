import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { disabledOf, recordFailure, type WebhookFailures } from "../../../domain/delivery/webhook-failures.ts";

const day = 86_400_000;
const webhook = { id: "wh_1", url: "https://a.test/" };
const failure = (at: number, isGone = false) => ({ at, isGone, error: "the endpoint answered 503" });

/** The record after failures at these days. A webhook is disabled after five days. */
function after(days: readonly number[], to: typeof webhook & { readonly enabledAt?: number } = webhook) {
  return days.reduce<WebhookFailures | undefined>((known, at) => recordFailure(known, to, failure(at * day), 5 * day), undefined);
}

describe("a webhook", () => {
  it("is disabled by the failure five days after the first", () => {
    expect(disabledOf(after([0, 1, 2, 3, 4, 4.9]), webhook)).toBeUndefined();
    expect(disabledOf(after([0, 1, 2, 3, 4, 5]), webhook)).toMatchObject({
      at: 5 * day,
      reason: "EndpointFailing",
      message: expect.stringContaining(
        'no delivery to the endpoint of webhook wh_1 has succeeded for 5 days; the last attempt: the endpoint answered 503. It is disabled, and its deliveries become dead letters. Enable it with PUT /v1/webhooks/wh_1 and {"active": true}',
      ),
    });
  });

  it("is disabled at once after a 410", () => {
    expect(disabledOf(recordFailure(undefined, webhook, failure(7, true), 5 * day), webhook)).toMatchObject({
      at: 7,
      reason: "EndpointGone",
    });
  });

  it("starts a new failure period after two days without a post", () => {
    expect(disabledOf(after([0, 10, 11]), webhook)).toBeUndefined();
    expect(after([0, 10, 11])?.since).toBe(10 * day);
  });

  it("starts a new failure period with another URL, and when it is enabled again", () => {
    const known = after([0, 1, 2, 3, 4, 5]);
    const moved = { ...webhook, url: "https://b.test/" };
    const enabled = { ...webhook, enabledAt: 5 * day + 1 };
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

  it("that fails often is stored at most every ten minutes", () => {
    const known = after([0]);
    expect(recordFailure(known, webhook, failure(60_000), 5 * day)).toBe(known);
    expect(recordFailure(known, webhook, failure(day), 5 * day)).toMatchObject({ since: 0, last: day });
  });

  it("is also stored each time that its circuit opens for longer, which a replica with a closed one does not undo", () => {
    const known = after([0]);
    const open = recordFailure(known, webhook, { ...failure(1_000), circuitOpenUntil: 2_000 }, 5 * day);
    expect(open).toEqual({ ...known, last: 1_000, circuitOpenUntil: 2_000 });
    expect(recordFailure(open, webhook, failure(1_500), 5 * day)).toBe(open);
    expect(recordFailure(open, webhook, { ...failure(1_500), circuitOpenUntil: 1_800 }, 5 * day)).toBe(open);
    expect(recordFailure(open, webhook, { ...failure(2_000), circuitOpenUntil: 4_000 }, 5 * day)).toMatchObject({
      circuitOpenUntil: 4_000,
    });
    expect(recordFailure(open, { ...webhook, enabledAt: 5_000 }, failure(6_000), 5 * day)).not.toHaveProperty("circuitOpenUntil");
  });

  /** Oracle: the failures since the last gap of more than two days, of which the first is five days before. Gaps are far from the bound. */
  it("is disabled exactly when it has failed for five days without two days of silence", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(0.25, 1, 1.5, 2.5, 4), { maxLength: 40 }), (gaps) => {
        let [at, since, isDue] = [0, 0, false];
        const times = [0];
        for (const gap of gaps) {
          at += gap;
          if (gap > 2 && !isDue) since = at;
          isDue ||= at - since >= 5;
          times.push(at);
          if (isDue) break; // A disabled webhook gets no more attempts.
        }
        expect(disabledOf(after(times), webhook) !== undefined).toBe(isDue);
      }),
    );
  });
});
