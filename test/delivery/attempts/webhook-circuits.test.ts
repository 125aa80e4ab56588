import { describe, expect, it } from "vitest";
import { WebhookCircuits } from "../../../delivery/attempts/webhook-circuits.ts";

const never = new AbortController().signal;

describe("WebhookCircuits", () => {
  it("grants a webhook its maximum of permits, independently of other webhooks", () => {
    const circuits = new WebhookCircuits(2);
    expect([1, 2, 3].map(() => circuits.tryAcquire("wh_1", 0))).toEqual([true, true, false]);
    expect(circuits.tryAcquire("wh_2", 0)).toBe(true);
  });

  it("grants a free permit to the attempt that has waited longest", async () => {
    const circuits = new WebhookCircuits(1);
    circuits.tryAcquire("wh_1", 0);
    const order: string[] = [];
    const first = circuits.acquire("wh_1", 0, never).then(() => order.push("first"));
    const second = circuits.acquire("wh_1", 0, never).then(() => order.push("second"));
    circuits.release("wh_1", true, 0);
    await first;
    circuits.release("wh_1", true, 0);
    await second;
    expect(order).toEqual(["first", "second"]);
  });

  it("returns false and takes no permit when the signal aborts the wait", async () => {
    const circuits = new WebhookCircuits(1);
    circuits.tryAcquire("wh_1", 0);
    const deadline = new AbortController();
    const entered = circuits.acquire("wh_1", 0, deadline.signal);
    deadline.abort();
    expect(await entered).toBe(false);
    circuits.release("wh_1", true, 0);
    expect(circuits.tryAcquire("wh_1", 0)).toBe(true);
  });

  it("opens the circuit after ten failures, then grants one permit at a time until a success", () => {
    const circuits = new WebhookCircuits(4);
    for (let failures = 0; failures < 10; failures++) {
      expect(circuits.tryAcquire("wh_1", 0)).toBe(true);
      circuits.release("wh_1", false, 0);
    }
    expect(circuits.tryAcquire("wh_1", 500)).toBe(false);
    expect(circuits.postponeMs("wh_1", 500)).toBeGreaterThanOrEqual(500);
    expect([1, 2].map(() => circuits.tryAcquire("wh_1", 2_000))).toEqual([true, false]);
    circuits.release("wh_1", true, 2_000);
    expect([1, 2, 3, 4, 5].map(() => circuits.tryAcquire("wh_1", 2_000))).toEqual([true, true, true, true, false]);
  });

  it("reports until when the circuit is open, from the tenth failure to the next success", () => {
    const circuits = new WebhookCircuits(4);
    for (let failures = 0; failures < 10; failures++) {
      expect(circuits.openUntil("wh_1")).toBeUndefined();
      circuits.tryAcquire("wh_1", 0);
      circuits.release("wh_1", false, 0);
    }
    expect(circuits.openUntil("wh_1")).toBe(1_000);
    circuits.tryAcquire("wh_1", 2_000);
    circuits.release("wh_1", false, 2_000);
    expect(circuits.openUntil("wh_1")).toBe(4_000);
    circuits.tryAcquire("wh_1", 4_000);
    circuits.release("wh_1", true, 4_000);
    expect(circuits.openUntil("wh_1")).toBeUndefined();
  });

  it("postpones deliveries one after the other, starting after the circuit may close", () => {
    const circuits = new WebhookCircuits(1);
    for (let failures = 0; failures < 10; failures++) {
      circuits.tryAcquire("wh_1", 0);
      circuits.release("wh_1", false, 0);
    }
    const closesAt = 1_000;
    const again = Array.from({ length: 1_201 }, () => 500 + circuits.postponeMs("wh_1", 500));
    expect(again[0]).toBe(closesAt + 1_000);
    expect(again[600]).toBe(closesAt + 2_000);
    expect(again[1_200]).toBe(closesAt + 3_000);
    expect(circuits.postponeMs("wh_1", 60_000)).toBe(1_000);
    expect(circuits.postponeMs("wh_2", 500)).toBe(1_000);
  });

  it("returns false when the maximum of attempts is already waiting", async () => {
    const circuits = new WebhookCircuits(1);
    circuits.tryAcquire("wh_1", 0);
    const first = circuits.acquire("wh_1", 0, never, 1);
    expect(await circuits.acquire("wh_1", 0, never, 1)).toBe(false);
    circuits.release("wh_1", true, 0);
    expect(await first).toBe(true);
  });
});
