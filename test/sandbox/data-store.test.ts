import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { StoreRequest, StoreResult } from "../../domain/data-store/data-stores.ts";
import { Conflict, Unavailable } from "../../domain/errors.ts";
import { emitted, errorOf, type SandboxFixture, type SandboxRequest, startSandbox } from "./sandbox-fixture.ts";

/** A store of the test: what was asked, and values by key. */
const asked: StoreRequest[] = [];
const values = new Map<string, string>();
let failures: Error[] = [];

async function perform(request: StoreRequest): Promise<StoreResult> {
  asked.push(request);
  const failure = failures.shift();
  if (failure !== undefined) throw failure;
  const { operation } = request;
  const entry = (key: string) => ({ key, version: 7, bytes: 1, updatedAt: 1, expiresAt: 5_000 });
  const valueOf = (key: string) => ({ ...entry(key), value: values.get(key) ?? "null" });
  switch (operation.kind) {
    case "get":
      return { kind: "get", entry: values.has(operation.key) ? valueOf(operation.key) : null };
    case "set":
      values.set(operation.key, operation.value);
      return { kind: "set", version: 8 };
    case "increment":
      return { kind: "increment", version: 9, value: Number(values.get(operation.key) ?? 0) + operation.by };
    case "delete":
      return { kind: "delete", existed: values.delete(operation.key) };
    case "clear":
      values.clear();
      return { kind: "clear", deleted: 0 };
    case "size":
      return { kind: "size", entries: values.size, bytes: 0 };
    case "list": {
      // Pages of one entry.
      const [key, next] = [...values.keys()].toSorted().filter((each) => each > (operation.after ?? ""));
      if (key === undefined) return { kind: "list", entries: [], next: null };
      return { kind: "list", entries: [operation.withValues ? valueOf(key) : entry(key)], next: next === undefined ? null : key };
    }
  }
}

let fixture: SandboxFixture;
beforeAll(async () => {
  fixture = await startSandbox({ dataStores: { perform } });
});
afterAll(() => fixture.stop());
beforeEach(() => {
  asked.length = 0;
  values.clear();
  failures = [];
});

const stores = { byProp: { store: "ds_orders" }, run: "p_1 r_1 0" };
const sourceOf = (body: string): string =>
  `export default { name: "c", props: { store: "data_store", own: "data_store" }, async run() { ${body} } };`;
const run = (body: string, request: SandboxRequest = {}) => fixture.run(sourceOf(body), { stores, ...request });

describe("a data_store prop with a store of the owner", () => {
  it("reads and changes it by requests to the parent", async () => {
    const body = `
      const version = await this.store.set("a", { n: 1 }, { ttl: 60, if_version: 0 });
      await this.store.update({ b: 2 });
      await this.store.update(new Map([["c", null]]));
      await this.store.delete("c", { if_version: 7 });
      await this.store.set("gone", undefined);
      this.$emit([version, await this.store.get("a"), await this.store.get("z", "none"), await this.store.has("b"), await this.store.increment("b", 5),
        await this.store.increment("n"), await this.store.keys(), await this.store.entries(), await this.store.size(), await this.store.entry("b")]);
      await this.store.clear();`;
    expect(emitted(await run(body))).toEqual([
      [
        8,
        { n: 1 },
        "none",
        true,
        7,
        1,
        ["a", "b"],
        [
          ["a", { n: 1 }],
          ["b", 2],
        ],
        2,
        { value: 2, version: 7, expires_at: "1970-01-01T00:00:05.000Z" },
      ],
    ]);
    expect(new Set(asked.map(({ owner, store }) => `${owner} ${store}`))).toEqual(new Set(["u_1 ds_orders"]));
    expect(asked[0]?.operation).toEqual({ kind: "set", key: "a", value: '{"n":1}', ttlSeconds: 60, ifVersion: 0 });
    expect(values.size).toBe(0);
  });

  it("is one of an action as well", async () => {
    const code = `export default { type: "action", name: "a", props: { store: "data_store" }, run() { return this.store.increment("n", 2); } };`;
    const action = { steps: "{}", context: "{}", resumeUrl: "", cancelUrl: "" };
    const execution = await fixture.run(code, { action, stores, props: JSON.stringify({ store: "ds_orders" }) });
    expect(execution).toMatchObject({ outcome: "returned", result: "2" });
  });

  it("gives each change an id, which is the same when the run is repeated, and another for each call", async () => {
    const body = `await this.store.increment("n"); await this.store.increment("n"); await this.store.increment("m"); await this.store.get("n"); await this.store.set("n", 1);`;
    const idsOf = async (request: SandboxRequest): Promise<(string | undefined)[]> => {
      asked.length = 0;
      await run(body, request);
      return asked.map(({ operationId }) => operationId);
    };
    const first = await idsOf({});
    expect(first.map((id) => typeof id)).toEqual(["string", "string", "string", "undefined", "string"]);
    expect(new Set(first).size).toBe(5);
    expect(await idsOf({})).toEqual(first);
    const next = await idsOf({ stores: { ...stores, run: "p_1 r_1 1" } });
    expect(next.filter((id) => id !== undefined && first.includes(id))).toEqual([]);
  });

  it("repeats a request while the store is unavailable, with the same id", async () => {
    failures = [new Unavailable("no delivery process answers"), new Unavailable("no delivery process answers")];
    expect(emitted(await run(`this.$emit(await this.store.increment("n"));`))).toEqual([1]);
    expect(new Set(asked.map(({ operationId }) => operationId)).size).toBe(1);
    expect(asked).toHaveLength(3);
  });

  it("throws the error of the store with its code", async () => {
    failures = [new Conflict("the key 'a' has version 7", { code: "data_store_changed" })];
    const body = `try { await this.store.set("a", 1, { if_version: 3 }); } catch (error) { this.$emit([error.name, error.code, error.message]); }`;
    expect(emitted(await run(body))).toEqual([["Conflict", "data_store_changed", "the key 'a' has version 7"]]);
  });

  it("gives a change that follows a refused one its id, so that a repetition of both makes it once", async () => {
    const body = `try { await this.store.set("a", 1, { if_version: 3 }); } catch { await this.store.set("a", 1, { if_version: 7 }); }`;
    asked.length = 0;
    failures = [new Conflict("the key 'a' has version 7", { code: "data_store_changed" })];
    await run(body);
    const [refused, made] = asked.map(({ operationId }) => operationId);
    asked.length = 0;
    await run(`await this.store.set("a", 1, { if_version: 8 });`);
    expect([refused, made]).toEqual([asked[0]?.operationId, asked[0]?.operationId]);
  });

  it.each([
    ["a value over 1 MiB", `this.store.set("a", "x".repeat(1024 * 1024))`, "data_store_value_too_large"],
    ["a value over 1 MiB of bytes", `this.store.set("a", "ä".repeat(600 * 1024))`, "data_store_value_too_large"],
    ["a value that is no JSON", `this.store.set("a", 1n)`, "data_store_not_json"],
    ["a function", `this.store.set("a", () => 1)`, "data_store_not_json"],
    ["an empty key", `this.store.set("", 1)`, "data_store_invalid"],
    ["a key with U+0000", `this.store.get("a\\0")`, "data_store_invalid"],
    ["a long key", `this.store.get("k".repeat(513))`, "limit_exceeded"],
    ["a ttl of no time", `this.store.set("a", 1, { ttl: 0 })`, "ERR_OUT_OF_RANGE"],
    ["a version that is none", `this.store.set("a", 1, { if_version: -1 })`, "ERR_OUT_OF_RANGE"],
    ["an increment by a text", `this.store.increment("a", "1")`, "data_store_invalid"],
  ])("refuses %s", async (_, call, code) => {
    const body = `try { await ${call}; } catch (error) { this.$emit(error.code); }`;
    expect(emitted(await run(body))).toEqual([code]);
    expect(asked).toEqual([]);
  });
});

describe("which store a prop reaches", () => {
  it("is none for a prop that has none, also if guest code asks for it by its bridge", async () => {
    const body = `
      this.own.set("a", 1);
      try { await this.own.set("b", 1, { ttl: 5 }); } catch (error) { this.$emit(error.message.slice(0, 25)); }
      this.$emit([await this.own.increment("n", 3), await this.own.get("a")]);`;
    expect(emitted(await run(body))).toEqual(["this.own has no ttl and n", [3, 1]]);
    expect(asked).toEqual([]);
  });

  it("fails a run that changes keys in an action without a store", async () => {
    const code = `export default { type: "action", name: "a", props: { store: "data_store" }, async run() { await this.store.set("n", 1); } };`;
    const action = { steps: "{}", context: "{}", resumeUrl: "", cancelUrl: "" };
    expect(errorOf(await fixture.run(code, { action }))).toMatchObject({ code: "db_unavailable" });
  });
});
