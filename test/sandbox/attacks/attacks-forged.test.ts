import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Activity } from "../../../runner/sandbox/isolate/activity.ts";
import { limits } from "../../../runner/sandbox/limits.ts";
import { asyncOperations, type OperationContext, postOperations, syncOperations } from "../../../runner/sandbox/operations/index.ts";
import { newMessages } from "../../../runner/sandbox/isolate/bridge.ts";
import { ProductCollector } from "../../../runner/sandbox/isolate/products.ts";

/** Messages as no runtime of ours makes them: what a guest could say that had taken the bridge apart. */
const denied = (): Promise<never> => Promise.reject(Object.assign(new Error("denied"), { code: "egress_denied" }));

function activity(isAction = false): Activity {
  return new Activity(
    "run",
    {
      deliver: async () => {},
      rest: () => {},
      network: { connect: denied, resolve: denied, askStore: denied, askFiles: denied, sendPiece: denied },
      owner: "u_1",
      state: new Map(),
    },
    new ProductCollector(isAction),
  );
}

const hostile = fc.oneof(
  fc.constantFrom<unknown>(
    undefined,
    null,
    -1,
    0,
    1,
    Number.NaN,
    Infinity,
    -Infinity,
    2 ** 53,
    1e300,
    "",
    "__proto__",
    "constructor",
    "[",
    "{",
    "\ud800",
    "a\r\nb",
    new Uint8Array(3),
    new Map(),
    new Date(Number.NaN),
    [],
    {},
    true,
    1n,
  ),
  fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withNullPrototype: true,
    withSparseArray: true,
  }),
);
const args = fc.array(hostile, { maxLength: 7 });
const objectKeys = Object.getOwnPropertyNames(Object.prototype).length;

describe("messages of a tampered runtime", () => {
  it.each(["emit", "log", "db", "respond", "wake", "registered", "described", "done", "failed", "uncaught"])(
    "cannot make the host throw: %s",
    (kind) => {
      fc.assert(
        fc.property(args, (given) => {
          const one = activity();
          expect(one.take(kind, given)).toBe(true);
          one.end({ outcome: "done", value: null });
          JSON.stringify(one.products.products(0, 0));
        }),
      );
      expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(objectKeys);
    },
  );

  it.each(["export", "flow", "send", "inputs", "respond", "done"])("cannot make the host throw in the step of a workflow: %s", (kind) => {
    const kinds = fc.constantFrom<unknown>("exit", "delay", "suspend", "rerun", "http", "email", "s3", "emit", "sse");
    const json = fc.constantFrom<unknown>("{}", "null", `{"raw_event":1}`, `{"__proto__":1}`, "[".repeat(5_000), "x".repeat(5_000_000));
    fc.assert(
      fc.property(fc.oneof(args, fc.tuple(fc.oneof(kinds, hostile), fc.oneof(json, hostile), hostile)), (given) => {
        const one = activity(true);
        expect(one.take(kind, given)).toBe(true);
        one.end({ outcome: "done", value: null });
        JSON.stringify(one.products.products(0, 0));
      }),
    );
    expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(objectKeys);
  });

  it.each([
    ["export", ["", "1"]],
    ["export", ["x".repeat(1_025), "1"]],
    ["export", ["$return_value", "1"]],
    ["export", ["a", "{"]],
    ["export", ["a", 1]],
    ["flow", ["stop"]],
    ["flow", ["exit", "x".repeat(5_000)]],
    ["flow", ["delay", -1]],
    ["flow", ["delay", Number.NaN]],
    ["flow", ["delay", Infinity]],
    ["flow", ["suspend", "1"]],
    ["flow", ["rerun", 1, "{", null]],
    ["flow", ["rerun", 1, null, 0.5]],
    ["send", ["fax", "{}", 0]],
    ["send", ["emit", `{"raw_event":1,"name":"$errors"}`, 0]],
    ["send", ["http", `{"url":"file:///etc/passwd","method":"GET","headers":{}}`, 0]],
    ["send", ["emit", `{"raw_event":"${"x".repeat(1_700_000)}"}`, 0]],
    ["inputs", ["x".repeat(70_000)]],
    ["done", ["x"]],
    ["done", [`"${"x".repeat(4_200_000)}"`]],
    ["respond", [99, "{}", "", false]],
  ])("ends the step that sends %s %j", (kind, given) => {
    const one = activity(true);
    one.take(kind, given);
    expect(one.ending).toMatchObject({ outcome: "limited", error: { code: "bridge_limit" } });
    expect(one.products.products(0, 0, false)).toMatchObject({
      response: null,
      action: { exports: {}, flow: null, sends: [], inputs: null },
    });
  });

  const part = `${"0".repeat(32)}-3`;
  const about = { mode: 0o644, modifiedMs: 1 };
  const file = { kind: "file", path: "a", bytes: 3, parts: [part], ...about };
  const directory = { kind: "directory", path: "d", ...about };
  const change = (entry: object): object => ({ removed: [], put: [{ ...file, ...entry }] });
  it.each<[what: string, changes: unknown]>([
    ["no text", { removed: [], put: [] }],
    ["no JSON", "{"],
    ["no changes", JSON.stringify([])],
    ["another field", JSON.stringify({ removed: [], put: [], owner: "u_2" })],
    ["a path above /tmp", JSON.stringify(change({ path: "../a" }))],
    ["an absolute path", JSON.stringify(change({ path: "/etc/passwd" }))],
    ["an empty name", JSON.stringify(change({ path: "a//b" }))],
    ["a null byte", JSON.stringify(change({ path: "a\0" }))],
    ["half of a pair", JSON.stringify(change({ path: "\ud800" }))],
    ["a long path", JSON.stringify(change({ path: "a".repeat(1_025) }))],
    ["a removed path above /tmp", JSON.stringify({ removed: ["a/../.."], put: [] })],
    ["a name that would be another subject", JSON.stringify(change({ parts: [">"] }))],
    ["fewer parts than its size needs", JSON.stringify(change({ bytes: 600_000 }))],
    ["more parts than its size needs", JSON.stringify(change({ parts: [part, part] }))],
    ["a size that is no integer", JSON.stringify(change({ bytes: 0.5 }))],
    ["more bytes than a run may have", JSON.stringify(change({ bytes: 2 ** 40, parts: Array(1_024).fill(part) }))],
    [
      "more bytes than a run may have in all",
      JSON.stringify({ removed: [], put: ["a", "b"].map((path) => ({ ...file, path, bytes: 2 ** 28 + 1, parts: Array(513).fill(part) })) }),
    ],
    ["a mode with a sticky bit", JSON.stringify(change({ mode: 0o1777 }))],
    ["no time", JSON.stringify(change({ modifiedMs: null }))],
    ["a time after the last date", JSON.stringify(change({ modifiedMs: 9e15 }))],
    ["a link", JSON.stringify(change({ kind: "link" }))],
    ["a directory with parts", JSON.stringify({ removed: [], put: [{ ...directory, parts: [part] }] })],
    ["an entry that inherits", `{"removed":[],"put":[{"__proto__":${JSON.stringify(file)}}]}`],
    ["2,001 entries", JSON.stringify({ removed: [], put: Array(2_001).fill(directory) })],
    ["a long text", JSON.stringify({ removed: [], put: [] }).padEnd(500_000)],
    ["a deep text", `${"[".repeat(200_000)}`],
  ])("ends the step that sends changes of files with %s", (_, changes) => {
    const one = activity(true);
    one.take("files", [changes]);
    expect(one.ending).toMatchObject({ outcome: "limited", error: { code: "bridge_limit" } });
    expect(one.products.products(0, 0).action?.files).toBeUndefined();
  });

  it("takes changes of files once, and drops them if the step has not returned", () => {
    const one = activity(true);
    const changes = { removed: ["__proto__"], put: [directory, file] };
    one.take("files", [JSON.stringify(changes)]);
    expect(one.products.products(0, 0, true).action?.files).toEqual(changes);
    expect(one.products.products(0, 0, false).action?.files).toBeUndefined();
    one.take("files", [JSON.stringify({ removed: [], put: [] })]);
    expect(one.ending).toMatchObject({ outcome: "limited", error: { code: "bridge_limit" } });
  });

  it("bounds the bytes of parts that a run sends, and counts no other bytes as such", () => {
    const bytes = new Uint8Array(2 ** 19);
    const admitted = (message: readonly unknown[]): number => {
      const one = activity(true);
      let count = 0;
      while (one.admit(message)) count += 1;
      return count;
    };
    // 512 MiB of parts, and beside them what every run may send.
    for (const message of [
      [1, "call", 1, "file_write", [bytes]],
      ["file_write", [bytes]],
    ])
      expect(admitted(message)).toBe(1_024 + 127);
    for (const message of [
      [1, "call", 1, "fetch", [bytes]],
      ["file_write", bytes],
      [1, "log", "file_write", [bytes]],
    ])
      expect(admitted(message)).toBeLessThan(128);
  });

  it.each(["export", "flow", "send", "inputs", "files"])("ends the run of a source that sends %s, which only actions do", (kind) => {
    const one = activity();
    one.take(kind, ["a", "1"]);
    expect(one.ending).toMatchObject({ outcome: "limited", error: { code: "bridge_limit" } });
    expect(one.products.products(0, 0).action).toBeUndefined();
  });

  it("cannot announce responses without end, nor give an export the size of many", () => {
    const one = activity(true);
    for (let count = 0; count < 1_001; count++) one.take("export", ["same", `"${count}"`]);
    expect(one.ending).toMatchObject({ outcome: "limited", error: { code: "export_limit" } });
    const other = activity(true);
    for (let count = 0; count < 5; count++) other.take("respond", [200, "{}", "x".repeat(4_000_000), true]);
    expect(other.ending).toMatchObject({ outcome: "limited", error: { code: "bridge_limit" } });
  });

  it("are parsed, whatever the outbox is", () => {
    fc.assert(
      fc.property(fc.oneof(hostile, fc.array(fc.oneof(hostile, args))), (outbox) => {
        for (const { sequence, kind } of newMessages(outbox, 0)) expect([typeof sequence, typeof kind]).toEqual(["number", "string"]);
      }),
    );
  });

  it("yield only valid dates, and results that are JSON", () => {
    const one = activity();
    one.take("emit", ["1", "id", "name", "summary", 1e300, -1e300, Number.NaN]);
    one.take("log", ["console.log", "text", 1e300]);
    one.take("done", ["not json {"]);
    const { emits, logs } = one.products.products(0, 0);
    expect(emits).toEqual([{ payload: "1", id: "id", name: "name", summary: "summary", at: expect.any(Number) as number }]);
    expect(logs[0]?.ts).toBeLessThan(8.64e15);
    expect(one.ending).toEqual({ outcome: "done", value: null });
  });

  it("end the run if an emit, a db change or a response is invalid", () => {
    for (const [kind, given] of [
      ["emit", ["{"]],
      ["emit", [1]],
      ["emit", ["1", "id", "$errors"]],
      ["db", ["p", "k", "{"]],
      ["db", [1, 2, 3]],
      ["respond", [1000, "{}", ""]],
      ["respond", [200, "{", ""]],
      ["respond", [200, "{}", 5]],
    ] as const) {
      const one = activity();
      one.take(kind, given);
      expect(one.ending).toMatchObject({ outcome: "limited", error: { code: "bridge_limit" } });
    }
  });

  it("do not grow the log: notices count as lines", () => {
    const products = new ProductCollector();
    for (let index = 0; index < 50_000; index++) products.addNotice("x");
    expect(products.products(0, 0).logs.length).toBeLessThanOrEqual(limits.logLines + 1);
  });
});

describe("operations of the host", () => {
  const context: OperationContext = {
    network: { connect: denied, resolve: denied, askStore: denied, askFiles: denied, sendPiece: denied },
    owner: "u_1",
    signal: AbortSignal.abort(),
    deliver: () => {},
    deliverAndWait: async () => {},
    state: new Map(),
  };

  /** @returns how many of 50 hostile calls are refused. */
  async function refusalsBy(call: (given: unknown[]) => unknown): Promise<number> {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(args, async (given) => {
        try {
          await call(given);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
          refused++;
        }
      }),
      { numRuns: 50 },
    );
    return refused;
  }

  it.each(Object.entries(syncOperations))("refuse hostile arguments by an error: %s", async (name, call) => {
    const takesNone = name === "crypto.lists";
    expect((await refusalsBy((given) => call(context, given))) > 0).toBe(!takesNone);
  });

  it.each(Object.entries(postOperations))("refuse hostile messages by an error: %s", async (_, call) => {
    expect(await refusalsBy((given) => call(context, given))).toBeGreaterThan(0);
  });

  it.each(Object.entries(asyncOperations))("refuse hostile calls by a rejection: %s", async (_, call) => {
    expect(await refusalsBy((given) => call(context, given))).toBeGreaterThan(0);
  });

  it("are found by their own names only, never by inherited ones", () => {
    for (const table of [syncOperations, asyncOperations, postOperations])
      for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) expect(table[name]).toBeUndefined();
  });
});
