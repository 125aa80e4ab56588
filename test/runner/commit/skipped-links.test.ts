import { describe, expect, it } from "vitest";
import type { Invocation } from "../../../domain/invocation/invocation.ts";
import { skippedLinks } from "../../../runner/commit/timer-chain.ts";

describe("skippedLinks", () => {
  const minutely = { generation: 3, props: { timer: { cron: "* * * * *", timezone: "Europe/Berlin" } } };
  const link = (at: number, skippedTicks: number): Invocation => ({
    source: "dc_1",
    trigger: "timer",
    chain: "timer",
    generation: 3,
    at: at * 60_000,
    skippedTicks,
  });

  it("names the ticks between the last link that ran and this one, as many as were skipped", () => {
    expect(skippedLinks(link(5, 3), { timer: 60_000 }, minutely)).toEqual([120_000, 180_000, 240_000]);
    expect(skippedLinks(link(5, 1), { timer: 60_000 }, minutely)).toEqual([240_000]);
  });

  it("names none of a chain that skipped none, or that has not run, or of another generation", () => {
    expect(skippedLinks(link(5, 0), { timer: 60_000 }, minutely)).toEqual([]);
    expect(skippedLinks(link(5, 3), { other: 60_000 }, minutely)).toEqual([]);
    expect(skippedLinks(link(5, 3), { timer: 60_000 }, { ...minutely, generation: 4 })).toEqual([]);
  });
});
