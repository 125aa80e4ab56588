import { describe, expect, it } from "vitest";
import type { Deployment } from "../../../domain/source/deployment.ts";
import type { Invocation } from "../../../domain/invocation/invocation.ts";
import { armNextLink, skippedLinks } from "../../../runner/commit/timer-chain.ts";
import type { RunnerPorts } from "../../../runner/ports.ts";
import { deployment, positionAt } from "../support.ts";

const timer = { cron: "30 2 * * *", timezone: "Europe/Berlin" };

async function armedAfter(invocation: Partial<Invocation>, more: Partial<Deployment> = {}): Promise<readonly string[]> {
  const armed: string[] = [];
  const timers: RunnerPorts["timers"] = {
    armAt: (_source, prop, atMs, { at }) => Promise.resolve(void armed.push(`${prop} ${new Date(atMs).toISOString()} ${atMs === at}`)),
  };
  const received = {
    invocation: { source: "dc_1", trigger: "timer", chain: "timer", generation: 3, ...invocation } as const,
    position: positionAt(1),
    storedAt: 0,
    skippedTicks: 0,
  };
  await armNextLink(received, { ...deployment, props: { timer }, ...more }, { timers, clock: { now: () => invocation.at ?? 0 } });
  return armed;
}

describe("armNextLink", () => {
  it("arms the next tick in the night in which clocks go forward", async () => {
    // 02:30 does not exist on 29 March 2026 in Berlin: the tick is due when the gap ends, at 03:00 summer time.
    expect(await armedAfter({ at: Date.parse("2026-03-28T01:30:00Z") })).toEqual(["timer 2026-03-29T01:00:00.000Z true"]);
    expect(await armedAfter({ at: Date.parse("2026-03-29T01:00:00Z") })).toEqual(["timer 2026-03-30T00:30:00.000Z true"]);
  });

  it("arms one tick for the hour that is repeated when clocks go back", async () => {
    expect(await armedAfter({ at: Date.parse("2026-10-24T00:30:00Z") })).toEqual(["timer 2026-10-25T00:30:00.000Z true"]);
    expect(await armedAfter({ at: Date.parse("2026-10-25T00:30:00Z") })).toEqual(["timer 2026-10-26T01:30:00.000Z true"]);
  });

  it("ends the chain of a source that was changed or deactivated", async () => {
    expect(await armedAfter({ at: 0 }, { generation: 4 })).toEqual([]);
    expect(await armedAfter({ at: 0 }, { active: false })).toEqual([]);
  });
});

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

  it("returns the last skipped ticks between the last link that ran and this one", () => {
    expect(skippedLinks(link(5, 3), { timer: 60_000 }, minutely)).toEqual([120_000, 180_000, 240_000]);
    expect(skippedLinks(link(5, 1), { timer: 60_000 }, minutely)).toEqual([240_000]);
  });

  it("returns none if no tick was skipped, no link has run, or the link is of another generation", () => {
    expect(skippedLinks(link(5, 0), { timer: 60_000 }, minutely)).toEqual([]);
    expect(skippedLinks(link(5, 3), { other: 60_000 }, minutely)).toEqual([]);
    expect(skippedLinks(link(5, 3), { timer: 60_000 }, { ...minutely, generation: 4 })).toEqual([]);
  });
});
