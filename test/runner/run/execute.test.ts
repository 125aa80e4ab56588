import { expect, it } from "vitest";
import type { Invocation } from "../../../domain/invocation/invocation.ts";
import { receivedEvent } from "../../../runner/run/run.ts";

const storedAt = 1_800_000_000_700;
const of = (more: Partial<Invocation>): unknown => receivedEvent({ source: "dc_1", trigger: "timer", ...more }, storedAt);

it("gives a tick the second it was due, and what its timer was set to", () => {
  expect(of({ event: { interval_seconds: 60 } })).toEqual({ timestamp: 1_800_000_000, interval_seconds: 60 });
  const cron = { interval_seconds: null, cron: "0 9 * * 1", timezone: "Europe/Berlin" };
  expect(of({ event: cron, chain: "timer", at: 1_799_999_940_000 })).toEqual({ timestamp: 1_799_999_940, ...cron });
});

it("gives every other trigger its event as it is, and a hook none", () => {
  expect(of({ trigger: "event", event: { timestamp: 5 } })).toEqual({ timestamp: 5 });
  expect(of({ trigger: "manual" })).toBeNull();
  expect(of({ trigger: "hook", hook: "deploy" })).toBeNull();
});
