import { describe, expect, it } from "vitest";
import { batched } from "../../platform/postgres/batched.ts";

/** A read that ends on request. */
function createReads() {
  const reads: { readonly keys: readonly string[]; end(): void; fail(): void }[] = [];
  const find = batched<string>((keys) => {
    const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, string>>();
    const known = keys.filter((key) => key !== "unknown");
    reads.push({
      keys,
      end: () => resolve(new Map(known.map((key) => [key, `found ${key}`]))),
      fail: () => reject(new Error("Postgres does not answer")),
    });
    return promise;
  });
  const untilRead = (count: number) => expect.poll(() => reads.length).toBe(count);
  return { reads, find, untilRead };
}

describe("batched", () => {
  it("reads a single key at once, and keys requested during a read together, each once", async () => {
    const { reads, find, untilRead } = createReads();
    const first = find("a");
    await untilRead(1);
    const others = [find("a"), find("b"), find("b"), find("unknown")];
    reads[0]?.end();
    expect(await first).toBe("found a");
    await untilRead(2);
    reads[1]?.end();
    expect(await Promise.all(others)).toEqual(["found a", "found b", "found b", undefined]);
    void find("c");
    await untilRead(3);
    expect(reads.map(({ keys }) => keys)).toEqual([["a"], ["a", "b", "unknown"], ["c"]]);
  });

  it("fails only the keys of the read that failed", async () => {
    const { reads, find, untilRead } = createReads();
    const first = find("a");
    await untilRead(1);
    const second = find("b");
    reads[0]?.fail();
    await expect(first).rejects.toThrow("Postgres does not answer");
    await untilRead(2);
    reads[1]?.end();
    expect(await second).toBe("found b");
  });

  it("starts another read while one hangs", async () => {
    const { reads, find, untilRead } = createReads();
    void find("a");
    await untilRead(1);
    const second = find("b");
    await untilRead(2);
    reads[1]?.end();
    expect(await second).toBe("found b");
    const third = find("c");
    await untilRead(3);
    reads[2]?.end();
    expect(await third).toBe("found c");
  });
});
