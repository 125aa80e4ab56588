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
    cancel: () => Promise.resolve(),
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

describe("the chain of a workflow's timer", () => {
  const minute = 60_000;
  const links = async (timer: object, invocation: Partial<Invocation>, now: number, isSkipped = false): Promise<readonly Invocation[]> => {
    const armed: Invocation[] = [];
    const timers: RunnerPorts["timers"] = {
      armAt: (_source, _prop, atMs, link) => Promise.resolve(void armed.push({ ...link, dueAt: atMs })),
      cancel: () => Promise.resolve(),
    };
    const received = {
      invocation: { source: "p_1", trigger: "timer", chain: "timer-0", generation: 3, ...invocation } as const,
      position: positionAt(1),
      storedAt: 0,
    };
    const workflow = { source: "p_1", active: true, generation: 3, props: { "timer-0": timer } };
    await armNextLink(received, workflow, { timers, clock: { now: () => now } }, isSkipped);
    return armed;
  };
  const minutely = { cron: "* * * * *" };

  it("runs the last missed tick, and lists the others as missed", async () => {
    const [next] = await links({ ...minutely, overlap: "skip" }, { at: minute }, 5 * minute);
    expect(next).toMatchObject({ at: 5 * minute, skips: [2, 3, 4].map((at) => ({ dueAt: at * minute, reason: "missed" })) });
  });

  it("runs as many of the missed ticks as catchUp says, one after the other", async () => {
    const timer = { ...minutely, catchUp: 2 };
    const [first] = await links(timer, { at: minute }, 5 * minute);
    expect(first).toMatchObject({ at: 4 * minute, skips: [2, 3].map((at) => ({ dueAt: at * minute, reason: "missed" })) });
    const [second] = await links(timer, { ...first }, 5 * minute);
    expect(second).toMatchObject({ at: 5 * minute });
    expect(second).not.toHaveProperty("skips");
    expect((await links(timer, { ...second }, 5 * minute))[0]).toMatchObject({ at: 6 * minute });
  });

  it("finds the last ticks of an outage of a year", async () => {
    const year = 525_600 * minute;
    expect((await links({ ...minutely, catchUp: 2 }, { at: minute }, year))[0]).toMatchObject({ at: year - minute });
    expect((await links({ intervalSeconds: 60, catchUp: 3 }, { at: minute }, year))[0]).toMatchObject({ at: year - 2 * minute });
    expect((await links({ ...minutely, overlap: "skip" }, { at: minute }, year))[0]).toMatchObject({ at: year + minute });
  });

  it("remembers skipped ticks and the run that has not ended, until a tick runs", async () => {
    const lastRun = { id: "r_1", startedAt: 7 };
    const timer = { ...minutely, overlap: "skip" };
    const [skipped] = await links(timer, { at: minute, lastRun }, minute, true);
    expect(skipped).toMatchObject({ at: 2 * minute, lastRun, skips: [{ dueAt: minute, reason: "earlier_tick_unfinished" }] });
    const [again] = await links(timer, { ...skipped }, 2 * minute, true);
    expect(again?.skips?.map(({ dueAt }) => dueAt)).toEqual([minute, 2 * minute]);
    const [ran] = await links(timer, { ...again }, 3 * minute);
    expect(ran?.lastRun).toMatchObject({ id: expect.stringMatching(/^r_t/), startedAt: 3 * minute });
    expect(ran).not.toHaveProperty("skips");
  });

  it("delays a tick by the same jitter each time, and keeps its time", async () => {
    const timer = { ...minutely, jitterSeconds: 30 };
    const [first, second] = [await links(timer, { at: minute }, minute), await links(timer, { at: minute }, minute + 1)];
    expect(first).toEqual(second.map((link) => ({ ...link, lastRun: { ...link.lastRun, startedAt: minute } })));
    const [{ at = 0, dueAt = 0 } = {}] = first;
    expect(at).toBe(2 * minute);
    expect(dueAt - at).toBeGreaterThan(0);
    expect(dueAt - at).toBeLessThanOrEqual(30_000);
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
