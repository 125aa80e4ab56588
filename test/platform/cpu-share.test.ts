import { availableParallelism } from "node:os";
import { describe, expect, it } from "vitest";
import { cpuMeter } from "../../platform/process/settings/cpu-share.ts";

/** Reads once a second, with this use of CPU in each second. @returns the shares, oldest first */
async function sharesOf(uses: readonly number[], limit: number | undefined): Promise<readonly (number | undefined)[]> {
  let [at, seconds] = [0, 100];
  const measure = cpuMeter(
    () => Promise.resolve({ seconds, limit }),
    () => at,
  );
  const shares = [await measure()];
  for (const use of uses) {
    at += 1_000;
    seconds += use;
    shares.push(await measure());
  }
  return shares;
}

describe("the share of CPUs that a container uses", () => {
  it("is unknown for 15 s, so that the work of a start does not count alone", async () => {
    const shares = await sharesOf([2, 2, ...Array.from({ length: 13 }, () => 0)], 2);
    expect(shares.slice(0, 15)).toEqual(Array.from({ length: 15 }, () => undefined));
    expect(shares.at(-1)).toBeCloseTo(4 / 15 / 2);
  });

  it("is the mean of the last 15 s, of the limit", async () => {
    const shares = await sharesOf([...Array.from({ length: 30 }, () => 0), ...Array.from({ length: 15 }, () => 1)], 2);
    expect(shares.at(30)).toBe(0);
    expect(shares.at(-1)).toBeCloseTo(0.5);
  });

  it("is of all CPUs of the machine without a limit, and at most 1", async () => {
    expect(
      (
        await sharesOf(
          Array.from({ length: 15 }, () => availableParallelism() * 2),
          undefined,
        )
      ).at(-1),
    ).toBe(1);
  });

  it("is unknown where the use cannot be read", async () => {
    expect(await cpuMeter(() => Promise.resolve({ seconds: undefined, limit: 2 }))()).toBeUndefined();
  });
});
