import { describe, expect, it } from "vitest";
import { QuotaGate } from "../../ingress/quota-gate.ts";

const plain = { owner: "u_1", customResponse: false };

describe("the gate before endpoints of owners over quota", () => {
  it("keeps a thousand requests of each owner, and refuses the next until it is over", () => {
    let untilMs = 5_000;
    const gate = new QuotaGate(() => untilMs);
    const refused = (owner: string, now: number, times: number): number[] =>
      Array.from({ length: times }, () => gate.refuses({ ...plain, owner }, now)).filter((leftMs) => leftMs > 0);
    expect(refused("u_1", 1_000, 1_003)).toEqual([4_000, 4_000, 4_000]);
    expect(refused("u_2", 1_000, 1_000)).toEqual([]);
    expect(refused("u_1", 5_000, 2_000)).toEqual([]);
    untilMs = 9_000;
    expect(refused("u_1", 6_000, 1_001)).toEqual([3_000]);
  });

  it("refuses at once who waits for an answer", () => {
    const gate = new QuotaGate((owner) => (owner === "u_1" ? 5_000 : 0));
    expect(gate.refuses({ owner: "u_1", customResponse: true }, 1_000)).toBe(4_000);
    expect(gate.refuses({ owner: "u_2", customResponse: true }, 1_000)).toBe(0);
  });

  it("lets through what it does not know the owner of", () => {
    expect(new QuotaGate(() => 5_000).refuses({ customResponse: true }, 1_000)).toBe(0);
  });
});
