import { describe, expect, it } from "vitest";
import { batched } from "../../platform/postgres/batched.ts";

/** A read that ends when it is told to. */
function world() {
  const reads: { readonly keys: readonly string[]; end(): void; fail(): void }[] = [];
  const find = batched<string>((keys) => {
    const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, string>>();
    const known = keys.filter((key) => key !== "unknown");
    reads.push({
      keys,
      end: () => resolve(new Map(known.map((key) => [key, `found ${key}`]))),
      fail: () => reject(new Error("it is away")),
    });
    return promise;
  });
  return { reads, find };
}

describe("reads by key that are batched", () => {
  it("go at once alone, and together what is asked for meanwhile, each key once", async () => {
    const { reads, find } = world();
    const first = find("a");
    const others = [find("a"), find("b"), find("b"), find("unknown")];
    expect(reads.map(({ keys }) => keys)).toEqual([["a"]]);
    reads[0]?.end();
    expect(await first).toBe("found a");
    expect(reads.map(({ keys }) => keys)).toEqual([["a"], ["a", "b", "unknown"]]);
    reads[1]?.end();
    expect(await Promise.all(others)).toEqual(["found a", "found b", "found b", undefined]);
    void find("c");
    expect(reads[2]?.keys).toEqual(["c"]);
  });

  it("fail with their own read alone", async () => {
    const { reads, find } = world();
    const first = find("a");
    const second = find("b");
    reads[0]?.fail();
    await expect(first).rejects.toThrow("it is away");
    reads[1]?.end();
    expect(await second).toBe("found b");
  });

  it("do not wait for one that hangs", async () => {
    const { reads, find } = world();
    void find("a");
    const second = find("b");
    await expect.poll(() => reads.length, { timeout: 30_000 }).toBe(2);
    reads[1]?.end();
    expect(await second).toBe("found b");
    const third = find("c");
    await expect.poll(() => reads.length, { timeout: 30_000 }).toBe(3);
    reads[2]?.end();
    expect(await third).toBe("found c");
  });
});
