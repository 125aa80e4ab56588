import { expect, it } from "vitest";
import { Patience } from "../../../delivery/attempts/shared-timeout.ts";

const never = new Promise<object>(() => undefined);

it("gives what came of it, or the error", async () => {
  const patience = new Patience(60_000);
  const result = {};
  expect(await patience.of(Promise.resolve(result))).toBe(result);
  await expect(patience.of(Promise.reject(new Error("it fails")))).rejects.toThrow("it fails");
});

it("ends, for each in turn, and begins again", async () => {
  const patience = new Patience(20);
  for (let n = 0; n < 2; n++) {
    const startedAt = performance.now();
    expect(await Promise.all([patience.of(never), patience.of(never)])).toEqual([undefined, undefined]);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(20);
  }
});
