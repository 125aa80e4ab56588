import { describe, expect, it } from "vitest";
import { LookupCache, type LookupCacheOptions } from "../../domain/lookup-cache.ts";

interface Entry {
  readonly text: string;
}

/** A store whose lookups end when the test ends them. */
class Store {
  readonly entries = new Map<string, Entry>();
  readonly lookups: string[] = [];
  #held: (() => void)[] | undefined;
  change: (key: string | undefined) => void = () => undefined;
  isDown = false;

  hold(): void {
    this.#held = [];
  }

  release(): void {
    for (const resume of this.#held?.splice(0) ?? []) resume();
    this.#held = undefined;
  }

  async lookup(key: string): Promise<Entry | undefined> {
    this.lookups.push(key);
    const [entry, { isDown }] = [this.entries.get(key), this];
    if (this.#held !== undefined) await new Promise<void>((resolve) => this.#held?.push(resolve));
    if (isDown) throw new Error("the store is down");
    return entry;
  }
}

async function started(options: Partial<LookupCacheOptions<Entry>> = {}) {
  const store = new Store();
  const cache = new LookupCache<Entry>({
    lookup: (key) => store.lookup(key),
    follow: async (onChange) => {
      store.change = onChange;
      return { stop: () => Promise.resolve() };
    },
    onChange: "evict",
    maxEntries: 10,
    ...options,
  });
  await cache.start();
  return { store, cache };
}

const [old, current] = [{ text: "old" }, { text: "current" }];

describe("a lookup cache", () => {
  it("looks a key up once, and concurrent callers share the lookup", async () => {
    const { store, cache } = await started();
    store.entries.set("a", current);
    expect(cache.peek("a")).toBeUndefined();
    expect(await Promise.all([cache.get("a"), cache.get("a")])).toEqual([current, current]);
    expect([cache.peek("a"), await cache.get("a"), store.lookups]).toEqual([current, current, ["a"]]);
  });

  it("evicts a key that changes, and every key when changes may have been missed", async () => {
    const { store, cache } = await started();
    for (const key of ["a", "b"]) {
      store.entries.set(key, old);
      await cache.get(key);
      store.entries.set(key, current);
    }
    store.change("a");
    expect([await cache.get("a"), await cache.get("b")]).toEqual([current, old]);
    store.change(undefined);
    expect(await cache.get("b")).toEqual(current);
  });

  it("does not cache the result of a lookup that began before a change", async () => {
    const { store, cache } = await started();
    store.entries.set("a", old);
    store.hold();
    const early = cache.get("a");
    store.entries.set("a", current);
    store.change("a");
    const late = cache.get("a");
    store.release();
    expect([await early, await late, cache.peek("a")]).toEqual([old, current, current]);
  });

  it("does not cache a failed lookup", async () => {
    const { store, cache } = await started();
    store.isDown = true;
    await expect(cache.get("a")).rejects.toThrow("the store is down");
    store.isDown = false;
    store.entries.set("a", current);
    expect(await cache.get("a")).toEqual(current);
  });

  it("caches absent keys up to their own bound, and none by default", async () => {
    const { store, cache } = await started({ maxAbsent: 2 });
    store.entries.set("a", current);
    await cache.get("a");
    for (const key of ["x", "y", "z"]) expect(await cache.get(key)).toBeUndefined();
    expect(["a", "x", "y", "z"].map((key) => cache.peek(key))).toEqual([current, undefined, null, null]);
    const { cache: withoutAbsent } = await started();
    await withoutAbsent.get("x");
    expect(withoutAbsent.peek("x")).toBeUndefined();
  });

  it("evicts the least recently used entry above its bound", async () => {
    const { store, cache } = await started({ maxEntries: 2 });
    for (const key of ["a", "b", "c"]) store.entries.set(key, current);
    await cache.get("a");
    await cache.get("b");
    cache.peek("a");
    await cache.get("c");
    expect(["a", "b", "c"].map((key) => cache.peek(key))).toEqual([current, undefined, current]);
  });

  it("with refresh, serves the previous value until a changed key is looked up, and keeps it if that fails", async () => {
    const { store, cache } = await started({ onChange: "refresh" });
    store.entries.set("a", old);
    await cache.get("a");
    store.entries.set("a", current);
    store.isDown = true;
    store.change("a");
    await expect(cache.refresh("a")).rejects.toThrow("the store is down");
    expect(cache.peek("a")).toEqual(old);
    store.isDown = false;
    await cache.refresh("a");
    expect(cache.peek("a")).toEqual(current);
    store.change("never used");
    expect(store.lookups).not.toContain("never used");
  });

  it("begins one refresh after a lookup in progress, however often it is requested", async () => {
    const { store, cache } = await started({ onChange: "refresh" });
    store.entries.set("a", old);
    store.hold();
    const early = cache.get("a");
    store.entries.set("a", current);
    const refreshed = Promise.all([cache.refresh("a"), cache.refresh("a")]);
    store.change("a");
    store.release();
    expect([await early, await refreshed, store.lookups.length]).toEqual([old, [current, current], 2]);
  });
});
