import { expect, it } from "vitest";
import { SharedTimeout } from "../../../delivery/attempts/shared-timeout.ts";

const never = new Promise<object>(() => undefined);

it("returns the promise's result, or rejects with its error", async () => {
  const timeout = new SharedTimeout(60_000);
  const result = {};
  expect(await timeout.race(Promise.resolve(result))).toBe(result);
  await expect(timeout.race(Promise.reject(new Error("it fails")))).rejects.toThrow("it fails");
});

it("returns undefined at the timeout for each promise, and restarts its timer for the next", async () => {
  const timeout = new SharedTimeout(20);
  for (let n = 0; n < 2; n++) {
    const startedAt = performance.now();
    expect(await Promise.all([timeout.race(never), timeout.race(never)])).toEqual([undefined, undefined]);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(20);
  }
});
