import { expect, it } from "vitest";
import type { OperationContext } from "../../runner/sandbox/operations/context.ts";
import { charge, metered } from "../../runner/sandbox/operations/sync-meter.ts";

const of = (owner: string): OperationContext => ({ owner }) as OperationContext; // All that the meter reads.
const occupy = (ms: number): void => {
  for (const end = performance.now() + ms; performance.now() < end;);
};
const refused = /more than a quarter of the time for too long/;

it("refuses synchronous work of an owner beyond a burst of two seconds, in any of its isolates, and not that of others", () => {
  const work = metered(() => "done");
  expect(charge(of("u_busy"), 1_900)).toBe(true);
  expect(work(of("u_busy"), [])).toBe("done");
  expect(charge(of("u_busy"), 60_000)).toBe(false);
  expect(() => work(of("u_busy"), [])).toThrow(refused);
  expect(work(of("u_other"), [])).toBe("done");
});

it("charges the time of an operation, also of one that throws", () => {
  const fails = metered(() => {
    occupy(30);
    throw new RangeError("mine");
  });
  expect(() => fails(of("u_fails"), [])).toThrow("mine");
  charge(of("u_fails"), 1_980);
  expect(() => fails(of("u_fails"), [])).toThrow(refused);
});
