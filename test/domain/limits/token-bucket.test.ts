import { expect, it } from "vitest";
import { TokenBucket, TokenBuckets } from "../../../domain/limits/token-bucket.ts";

it("limits the average rate during any bursts", () => {
  const bucket = new TokenBucket({ perSecond: 10, burst: 2 });
  expect([bucket.reserve(0), bucket.reserve(0), bucket.reserve(0), bucket.reserve(0)]).toEqual([0, 0, 100, 200]);
  expect(bucket.reserve(1_000)).toBe(0);
  expect([bucket.take(1_000), bucket.take(1_000), bucket.take(1_100)]).toEqual([true, false, true]);
});

it("is not emptied by a clock that was set back", () => {
  const bucket = new TokenBucket({ perSecond: 1, burst: 2 });
  expect([bucket.take(10_000), bucket.take(0), bucket.take(10_000), bucket.take(11_000)]).toEqual([true, true, false, true]);
});

it("forgets the key that was used least recently when there are too many", () => {
  const buckets = new TokenBuckets({ perSecond: 1, burst: 1 }, 2);
  const taken = (...keys: readonly string[]): readonly boolean[] => keys.map((key) => buckets.of(key).take(0));
  expect(taken("a", "b", "a", "b")).toEqual([true, true, false, false]);
  expect(taken("a", "c", "a", "b")).toEqual([false, true, false, true]);
});
