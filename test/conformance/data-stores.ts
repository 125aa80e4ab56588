import { expect, test } from "vitest";
import type { DataStores, OperationOf, ResultOf, StoreOperation, StoreResult } from "../../domain/data-store/data-stores.ts";

export interface StoresUnderTest {
  readonly stores: DataStores;
  /** Another process's. */
  readonly others: DataStores;
  readonly owner: string;
  /** Ids of two stores of the owner, without entries. */
  readonly store: string;
  readonly second: string;
  /** Lets time pass. */
  readonly pass: (ms: number) => void;
  /** What the owner may have. */
  readonly bounds: { readonly entries: number; readonly bytes: number };
}

const size = { kind: "size" } as const;
const set = (key: string, value: unknown, options: Partial<OperationOf<"set">> = {}): StoreOperation => ({
  kind: "set",
  key,
  value: JSON.stringify(value),
  ...options,
});
const increment = (key: string, by = 1): StoreOperation => ({ kind: "increment", key, by });

/** What every DataStores does. `make` is called once per test. */
export function dataStoresConformance(make: () => Promise<StoresUnderTest>): void {
  async function world() {
    const made = await make();
    const perform = (operation: StoreOperation, operationId?: string, store = made.store): Promise<StoreResult> =>
      made.stores.perform({ owner: made.owner, store, operation, ...(operationId === undefined ? {} : { operationId }) });
    const valueOf = async (key: string): Promise<unknown> => {
      const { entry } = (await perform({ kind: "get", key })) as ResultOf<"get">;
      return entry?.value === undefined ? undefined : (JSON.parse(entry.value) as unknown);
    };
    const list = async (options: Partial<OperationOf<"list">> = {}): Promise<ResultOf<"list">> =>
      (await perform({ kind: "list", withValues: false, ...options })) as ResultOf<"list">;
    return { ...made, perform, valueOf, list };
  }

  test("returns what was set, to every process, as JSON", async () => {
    const { others, owner, store, perform, valueOf } = await world();
    const value = { text: "\0 \ud83d\ude00", list: [1, null], flag: true };
    await perform(set("a", value));
    expect(await valueOf("a")).toEqual(value);
    expect(await others.perform({ owner, store, operation: { kind: "get", key: "a" } })).toMatchObject({
      entry: { value: JSON.stringify(value) },
    });
    expect(await valueOf("b")).toBeUndefined();
  });

  test("deletes a key, and clears all of them", async () => {
    const { perform, valueOf } = await world();
    for (const key of ["a", "b", "c"]) await perform(set(key, key));
    expect(await perform({ kind: "delete", key: "a" })).toEqual({ kind: "delete", existed: true });
    expect(await perform({ kind: "delete", key: "a" })).toEqual({ kind: "delete", existed: false });
    expect(await valueOf("a")).toBeUndefined();
    expect(await perform({ kind: "clear" })).toEqual({ kind: "clear", deleted: 2 });
    expect(await perform(size)).toEqual({ kind: "size", entries: 0, bytes: 0 });
  });

  test("counts entries and the bytes of keys and values", async () => {
    const { perform } = await world();
    await perform(set("ä", "12"));
    await perform(set("b", 1));
    expect(await perform(size)).toEqual({ kind: "size", entries: 2, bytes: 2 + 4 + 1 + 1 });
    await perform(set("b", 1234));
    await perform({ kind: "delete", key: "ä" });
    expect(await perform(size)).toEqual({ kind: "size", entries: 1, bytes: 1 + 4 });
  });

  test("sets a key only if it has the version that was read", async () => {
    const { perform, valueOf } = await world();
    const first = (await perform(set("a", 1, { ifVersion: 0 }))) as ResultOf<"set">;
    await expect(perform(set("a", 2, { ifVersion: 0 }))).rejects.toMatchObject({
      code: "data_store_changed",
      details: { version: first.version },
    });
    await perform(set("a", 2, { ifVersion: first.version }));
    await expect(perform(set("a", 3, { ifVersion: first.version }))).rejects.toMatchObject({ code: "data_store_changed" });
    await expect(perform({ kind: "delete", key: "a", ifVersion: first.version })).rejects.toMatchObject({ code: "data_store_changed" });
    expect(await valueOf("a")).toBe(2);
  });

  test("gives a key that was deleted and set again another version", async () => {
    const { perform } = await world();
    const { version } = (await perform(set("a", 1))) as ResultOf<"set">;
    await perform({ kind: "delete", key: "a" });
    await perform(set("a", 1));
    await expect(perform(set("a", 2, { ifVersion: version }))).rejects.toMatchObject({ code: "data_store_changed" });
  });

  test("sums up increments of several processes exactly", async () => {
    const { others, owner, store, perform, valueOf } = await world();
    const all = Array.from({ length: 40 }, (_, n) =>
      n % 2 === 0 ? perform(increment("n", 3)) : others.perform({ owner, store, operation: increment("n", 3) }),
    );
    const results = (await Promise.all(all)) as ResultOf<"increment">[];
    expect(await valueOf("n")).toBe(120);
    expect(new Set(results.map(({ value }) => value)).size).toBe(40);
  });

  test("lets one of several win that set a new key", async () => {
    const { others, owner, store, perform } = await world();
    const operation = set("lock", 1, { ifVersion: 0 });
    const all = Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? perform(operation) : others.perform({ owner, store, operation })));
    expect((await Promise.allSettled(all)).filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("refuses to increment what is no number", async () => {
    const { perform, valueOf } = await world();
    await perform(set("a", "1"));
    await expect(perform(increment("a"))).rejects.toMatchObject({ code: "data_store_not_number" });
    await perform(set("b", Number.MAX_VALUE));
    await expect(perform(increment("b", Number.MAX_VALUE))).rejects.toMatchObject({ code: "data_store_not_number" });
    expect(await valueOf("a")).toBe("1");
  });

  test("performs an operation with an id once, and repeats its result", async () => {
    const { others, owner, store, perform, valueOf } = await world();
    const first = await perform(increment("n"), "op-1");
    await perform(increment("n"), "op-2");
    expect(await perform(increment("n"), "op-1")).toEqual(first);
    expect(await others.perform({ owner, store, operation: increment("n"), operationId: "op-2" })).toMatchObject({ value: 2 });
    expect(await valueOf("n")).toBe(2);

    const once = await perform(set("a", 1, { ifVersion: 0 }), "op-3");
    expect(await perform(set("a", 1, { ifVersion: 0 }), "op-3")).toEqual(once);
    await perform({ kind: "clear" }, "op-4");
    await perform(set("kept", 1));
    await perform({ kind: "clear" }, "op-4");
    expect(await valueOf("kept")).toBe(1);
    expect(await perform({ kind: "delete", key: "kept" }, "op-5")).toEqual({ kind: "delete", existed: true });
    expect(await perform({ kind: "delete", key: "kept" }, "op-5")).toEqual({ kind: "delete", existed: true });
  });

  test("performs an operation with an id once when it is repeated at the same time", async () => {
    const { others, owner, store, perform, valueOf } = await world();
    const all = Array.from({ length: 8 }, (_, n) =>
      n % 2 === 0 ? perform(increment("n"), "same") : others.perform({ owner, store, operation: increment("n"), operationId: "same" }),
    );
    expect(new Set((await Promise.all(all)).map((result) => JSON.stringify(result))).size).toBe(1);
    expect(await valueOf("n")).toBe(1);
  });

  test("forgets a refused operation with an id: it is tried again", async () => {
    const { perform, valueOf } = await world();
    await perform(set("a", "text"));
    await expect(perform(increment("a"), "op")).rejects.toMatchObject({ code: "data_store_not_number" });
    await perform({ kind: "delete", key: "a" });
    await perform(increment("a"), "op");
    expect(await valueOf("a")).toBe(1);
  });

  test("forgets a key when its time is over", async () => {
    const { perform, valueOf, pass, list } = await world();
    await perform(set("a", 1, { ttlSeconds: 10 }));
    await perform({ kind: "increment", key: "n", by: 1, ttlSeconds: 10 });
    pass(6_000);
    await perform(increment("n"));
    expect([await valueOf("a"), await valueOf("n")]).toEqual([1, 2]);
    pass(5_000);
    expect([await valueOf("a"), await valueOf("n")]).toEqual([undefined, undefined]);
    expect((await list()).entries).toEqual([]);
    expect(await perform(size)).toEqual({ kind: "size", entries: 0, bytes: 0 });
    expect(await perform({ kind: "delete", key: "a" })).toEqual({ kind: "delete", existed: false });
    expect(await perform(set("n", 1, { ifVersion: 0 }))).toMatchObject({ kind: "set" });
    expect(await perform(size)).toMatchObject({ entries: 1 });
  });

  test("keeps a key that is set again without a time", async () => {
    const { perform, valueOf, pass } = await world();
    await perform(set("a", 1, { ttlSeconds: 10 }));
    await perform(set("a", 2));
    pass(20_000);
    expect(await valueOf("a")).toBe(2);
  });

  test("lists all entries in pages, in the order of their keys", async () => {
    const { perform, list } = await world();
    const keys = Array.from({ length: 25 }, (_, n) => `k${String(n).padStart(2, "0")}`).concat("Z", "ä");
    for (const key of keys) await perform(set(key, key.length));
    const found: string[] = [];
    let after: string | undefined;
    do {
      const page = await list({ limit: 10, ...(after === undefined ? {} : { after }) });
      expect(page.entries.length).toBeLessThanOrEqual(10);
      found.push(...page.entries.map(({ key }) => key));
      after = page.next ?? undefined;
    } while (after !== undefined);
    expect(found).toEqual(keys.toSorted());
  });

  test("ends a page of large values early, and has every value", async () => {
    const { perform, list } = await world();
    const text = "x".repeat(400_000);
    for (const key of ["a", "b", "c", "d"]) await perform(set(key, text));
    const first = await list({ withValues: true });
    expect(first.entries.map(({ key }) => key)).toEqual(["a", "b"]);
    const second = await list({ withValues: true, after: first.next ?? "" });
    expect(second.entries.map(({ key, value }) => [key, value?.length])).toEqual([
      ["c", 400_002],
      ["d", 400_002],
    ]);
    expect(second.next).toBeNull();
    expect((await list({ withValues: false })).entries.map(({ key }) => key)).toEqual(["a", "b", "c", "d"]);
  });

  test("refuses entries and bytes beyond what the owner may have, in all stores together, and nothing else", async () => {
    const { perform, bounds, store, second, pass, valueOf } = await world();
    const half = bounds.bytes / 2 - 100;
    await perform(set("a", "x".repeat(half)));
    await perform(set("b", "x".repeat(half), { ttlSeconds: 1 }), undefined, second);
    await expect(perform(set("c", "x".repeat(300)))).rejects.toMatchObject({ status: 429, code: "data_store_full" });
    expect(await valueOf("c")).toBeUndefined();
    await perform(set("a", 1));
    await perform(set("c", "x".repeat(300)));
    await expect(perform(set("d", "x".repeat(half)), undefined, second)).rejects.toMatchObject({ code: "data_store_full" });
    pass(2_000);
    await perform(set("d", "x".repeat(half)), undefined, second);
    await perform({ kind: "clear" }, undefined, second);
    await perform({ kind: "clear" }, undefined, store);
    for (let n = 0; n < bounds.entries; n++) await perform(set(`k${n}`, n));
    await expect(perform(set("more", 1), undefined, second)).rejects.toMatchObject({ code: "data_store_full" });
    await perform(set("k0", "changed"));
  });

  test("has no store of another owner, and none that does not exist", async () => {
    const { stores, store } = await world();
    const absent = { status: 404, code: "data_store_not_found" };
    for (const operation of [
      { kind: "get", key: "a" },
      set("a", 1),
      size,
      { kind: "clear" },
      { kind: "list", withValues: true },
    ] as const) {
      await expect(stores.perform({ owner: "u_other", store, operation })).rejects.toMatchObject(absent);
      await expect(stores.perform({ owner: "u_other", store: "ds_missing", operation })).rejects.toMatchObject(absent);
    }
  });
}
