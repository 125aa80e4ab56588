import { describe, expect, it } from "vitest";
import type { Deployment } from "../../../domain/source/deployment.ts";
import type { Invocation } from "../../../domain/invocation/invocation.ts";
import { armNextLink } from "../../../runner/commit/timer-chain.ts";
import type { RunnerPorts } from "../../../runner/ports.ts";
import { deployment } from "../support.ts";
import { positionAt } from "../position.ts";

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
  it("arms the next tick after the one that was due, over the night in which clocks go forward", async () => {
    // 02:30 does not exist on 29 March 2026 in Berlin: the tick comes when the gap ends, at 03:00 summer time.
    expect(await armedAfter({ at: Date.parse("2026-03-28T01:30:00Z") })).toEqual(["timer 2026-03-29T01:00:00.000Z true"]);
    expect(await armedAfter({ at: Date.parse("2026-03-29T01:00:00Z") })).toEqual(["timer 2026-03-30T00:30:00.000Z true"]);
  });

  it("arms one tick for the hour that comes twice", async () => {
    expect(await armedAfter({ at: Date.parse("2026-10-24T00:30:00Z") })).toEqual(["timer 2026-10-25T00:30:00.000Z true"]);
    expect(await armedAfter({ at: Date.parse("2026-10-25T00:30:00Z") })).toEqual(["timer 2026-10-26T01:30:00.000Z true"]);
  });

  it("ends the chain of a source that was changed or switched off", async () => {
    expect(await armedAfter({ at: 0 }, { generation: 4 })).toEqual([]);
    expect(await armedAfter({ at: 0 }, { active: false })).toEqual([]);
  });
});
