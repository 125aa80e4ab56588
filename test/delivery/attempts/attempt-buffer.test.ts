import { expect, it } from "vitest";
import { AttemptBuffer } from "../../../delivery/attempts/attempt-buffer.ts";
import type { Attempt } from "../../../delivery/record/ports.ts";
import { deliveryTo } from "../../conformance/destination-ports.ts";

const log = { info: () => undefined, warn: () => undefined };
const body = "x".repeat(2 ** 20);
const response = { headers: [], areHeadersCut: false, body, encoding: "utf-8", isCut: true } as const;
const attempted = {
  outcome: { outcome: "delivered", status: 200, exchange: { url: "", sent: [], response } },
  at: 1,
  durationMs: 1,
} as const;

it("holds at most 32 Mi characters of what attempts have sent and received while Postgres is away, and every attempt", async () => {
  let isAway = true;
  let recorded: readonly Attempt[] = [];
  const recordAttempts = async (attempts: readonly Attempt[]): Promise<void> => {
    if (isAway) throw new Error("away");
    recorded = attempts;
  };
  const buffer = new AttemptBuffer({ history: { recordAttempts }, log }, async () => undefined);
  const add = (count: number): void => {
    for (let n = 0; n < count; n++) buffer.add(deliveryTo("wh_1"), "webhook", attempted, false);
  };
  add(20);
  await buffer.stop();
  add(30);
  isAway = false;
  await buffer.stop();
  expect(recorded.length).toBe(50);
  expect(recorded.filter(({ exchange }) => exchange !== undefined).length).toBe(32);
});
