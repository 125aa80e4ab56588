import { describe, expect, it } from "vitest";
import { Endpoints } from "../../../delivery/attempts/webhook-circuits.ts";

const never = new AbortController().signal;

describe("Endpoints", () => {
  it("lets no more than its share under way at one webhook, and others beside it", () => {
    const endpoints = new Endpoints(2);
    expect([1, 2, 3].map(() => endpoints.tryEnter("wh_1", 0))).toEqual([true, true, false]);
    expect(endpoints.tryEnter("wh_2", 0)).toBe(true);
  });

  it("gives a free place to whoever waits longest", async () => {
    const endpoints = new Endpoints(1);
    endpoints.tryEnter("wh_1", 0);
    const order: string[] = [];
    const first = endpoints.enter("wh_1", 0, never).then(() => order.push("first"));
    const second = endpoints.enter("wh_1", 0, never).then(() => order.push("second"));
    endpoints.leave("wh_1", true, 0);
    await first;
    endpoints.leave("wh_1", true, 0);
    await second;
    expect(order).toEqual(["first", "second"]);
  });

  it("ends the wait of whoever runs out of patience, without a place", async () => {
    const endpoints = new Endpoints(1);
    endpoints.tryEnter("wh_1", 0);
    const patience = new AbortController();
    const entered = endpoints.enter("wh_1", 0, patience.signal);
    patience.abort();
    expect(await entered).toBe(false);
    endpoints.leave("wh_1", true, 0);
    expect(endpoints.tryEnter("wh_1", 0)).toBe(true);
  });

  it("lets an endpoint rest that keeps failing, asks it one at a time, and forgives it after a success", () => {
    const endpoints = new Endpoints(4);
    for (let failures = 0; failures < 10; failures++) {
      expect(endpoints.tryEnter("wh_1", 0)).toBe(true);
      endpoints.leave("wh_1", false, 0);
    }
    expect(endpoints.tryEnter("wh_1", 500)).toBe(false);
    expect(endpoints.againAfterMs("wh_1", 500)).toBeGreaterThanOrEqual(500);
    expect([1, 2].map(() => endpoints.tryEnter("wh_1", 2_000))).toEqual([true, false]);
    endpoints.leave("wh_1", true, 2_000);
    expect([1, 2, 3, 4, 5].map(() => endpoints.tryEnter("wh_1", 2_000))).toEqual([true, true, true, true, false]);
  });

  it("has those that are put off ask again one after the other, from the end of the rest on", () => {
    const endpoints = new Endpoints(1);
    for (let failures = 0; failures < 10; failures++) {
      endpoints.tryEnter("wh_1", 0);
      endpoints.leave("wh_1", false, 0);
    }
    const rest = 1_000;
    const again = Array.from({ length: 1_201 }, () => 500 + endpoints.againAfterMs("wh_1", 500));
    expect(again[0]).toBe(rest + 1_000);
    expect(again[600]).toBe(rest + 2_000);
    expect(again[1_200]).toBe(rest + 3_000);
    expect(endpoints.againAfterMs("wh_1", 60_000)).toBe(1_000);
    expect(endpoints.againAfterMs("wh_2", 500)).toBe(1_000);
  });

  it("lets wait no more than it is told to", async () => {
    const endpoints = new Endpoints(1);
    endpoints.tryEnter("wh_1", 0);
    const first = endpoints.enter("wh_1", 0, never, 1);
    expect(await endpoints.enter("wh_1", 0, never, 1)).toBe(false);
    endpoints.leave("wh_1", true, 0);
    expect(await first).toBe(true);
  });
});
