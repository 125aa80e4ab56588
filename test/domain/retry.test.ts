import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { backoffMs, pause, retry } from "../../domain/retry.ts";

/** Fails with each error in turn, then returns "done". */
function failing(...errors: readonly Error[]): { attempt: () => Promise<string>; attempts: () => number } {
  let attempts = 0;
  const attempt = async (): Promise<string> => {
    const error = errors[attempts++];
    if (error !== undefined) throw error;
    return "done";
  };
  return { attempt, attempts: () => attempts };
}

const first = new Error("first");
const second = new Error("second");
const third = new Error("third");
const firstMs = 1;

describe("retry", () => {
  test("returns the first result, and reports each failure before it", async () => {
    const failures: [unknown, number][] = [];
    const result = await retry(failing(first, second).attempt, { firstMs, onFailure: (...failure) => failures.push(failure) });
    expect(result).toBe("done");
    expect(failures).toEqual([
      [first, 1],
      [second, 2],
    ]);
  });

  test("throws the last error after the maximum number of attempts", async () => {
    const { attempt, attempts } = failing(first, second, third);
    await expect(retry(attempt, { firstMs, maxAttempts: 2 })).rejects.toBe(second);
    expect(attempts()).toBe(2);
  });

  test("throws an error that is not transient at once", async () => {
    const { attempt, attempts } = failing(first, second, third);
    await expect(retry(attempt, { firstMs, isTransient: (error) => error !== second })).rejects.toBe(second);
    expect(attempts()).toBe(2);
  });

  test("throws the first error after its time", async () => {
    const { attempt, attempts } = failing(first, second);
    await expect(retry(attempt, { firstMs, withinMs: 0 })).rejects.toBe(first);
    expect(attempts()).toBe(1);
  });

  test("ends a pending delay when the signal aborts", async () => {
    const stopping = new AbortController();
    const { attempt, attempts } = failing(first, second);
    const retried = retry(attempt, { firstMs: 3_600_000, signal: stopping.signal, onFailure: () => setImmediate(() => stopping.abort()) });
    await expect(retried).rejects.toBe(first);
    expect(attempts()).toBe(1);
  });

  test("attempts once, and reports no failure, when the signal has aborted before", async () => {
    const failures: unknown[] = [];
    const options = { firstMs, signal: AbortSignal.abort(), onFailure: (error: unknown) => failures.push(error) };
    expect(await retry(failing().attempt, options)).toBe("done");
    await expect(retry(failing(first, second).attempt, options)).rejects.toBe(first);
    expect(failures).toEqual([]);
  });

  test("waits as long as the error requests", async () => {
    const { attempt } = failing(first, second);
    expect(await retry(attempt, { firstMs: 3_600_000, requestedDelayMs: () => 0 })).toBe("done");
  });
});

describe("backoff", () => {
  test("doubles up to the maximum, with half of each delay random", () => {
    const delays = [1, 2, 3, 4, 5].map((failures) => [0, 1].map((random) => backoffMs(failures, { firstMs: 100, maxMs: 1_000 }, random)));
    expect(delays).toEqual([
      [50, 100],
      [100, 200],
      [200, 400],
      [400, 800],
      [500, 1_000],
    ]);
  });

  test("stays within the maximum after any number of failures", () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.nat(1_000), fc.nat(60_000), random, (failures, firstMs, maxMs, value) => {
        const delay = backoffMs(failures, { firstMs, maxMs }, value);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(maxMs);
      }),
    );
  });
});

describe("pause", () => {
  test("resolves at once when the signal has aborted, and as soon as it aborts", async () => {
    await expect(pause(3_600_000, AbortSignal.abort())).resolves.toBeUndefined();
    const stopping = new AbortController();
    const paused = pause(3_600_000, stopping.signal);
    stopping.abort();
    await expect(paused).resolves.toBeUndefined();
  });
});
