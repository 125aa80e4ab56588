import { expect, it } from "vitest";
import type { Invocation } from "../../../domain/invocation/invocation.ts";
import { receivedEvent } from "../../../runner/run/execute.ts";

const storedAt = 1_800_000_000_700;
const eventOf = (more: Partial<Invocation>): unknown => receivedEvent({ source: "dc_1", trigger: "timer", ...more }, storedAt);

it("passes a tick its due time in epoch seconds and its timer's setting", () => {
  expect(eventOf({ event: { interval_seconds: 60 } })).toEqual({ timestamp: 1_800_000_000, interval_seconds: 60 });
  const cron = { interval_seconds: null, cron: "0 9 * * 1", timezone: "Europe/Berlin" };
  expect(eventOf({ event: cron, chain: "timer", at: 1_799_999_940_000 })).toEqual({ timestamp: 1_799_999_940, ...cron });
});

it("passes the event of any other trigger unchanged, and null to a hook", () => {
  expect(eventOf({ trigger: "event", event: { timestamp: 5 } })).toEqual({ timestamp: 5 });
  expect(eventOf({ trigger: "manual" })).toBeNull();
  expect(eventOf({ trigger: "hook", hook: "deploy" })).toBeNull();
});
