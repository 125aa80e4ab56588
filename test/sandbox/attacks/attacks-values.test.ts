import { describe, expect, it } from "vitest";
import { maxTimestampMs } from "../../../domain/clock.ts";
import { openRange } from "./attack-range.ts";
import { emitted, ended, errorOf, patientMs } from "../sandbox-fixture.ts";

/** What comes out of hostile components: results, errors, emits, responses; and what they try on the way out. */
const range = openRange();

const late = /run_timeout|cpu_limit/;

describe("results", () => {
  it.each([
    ["a BigInt", `return 1n`, null],
    ["a symbol", `return Symbol("x")`, null],
    ["a function", `return () => 1`, null],
    ["a cycle", `const a = {}; a.a = a; return a`, null],
    ["a proxy that throws", `return new Proxy({}, { ownKeys() { throw new Error("no"); } })`, null],
    ["a getter that throws", `return { get a() { throw null; } }`, null],
    ["a lone surrogate", `return "\\ud800"`, `"\\ud800"`],
    ["a thenable that settles thrice", `return { then(ok, no) { ok(1); no(2); ok(3); } }`, "1"],
    ["one before an endless timer", `setTimeout(() => { for (;;); }, 1); return 1`, "1"],
    ["one of a patched then", `Object.prototype.then = function (ok) { ok(1); }; return 5`, "5"],
    ["more than the limit", `return "x".repeat(1e6)`, null],
  ])("may be %s", async (_, body, result) => {
    expect(await range.attack(body)).toMatchObject({ outcome: "returned", result });
  });

  it.each([
    ["thenables in a cycle", `const t = { then(ok) { ok(u); } }; const u = { then(ok) { ok(t); } }; return t`, late],
    ["a thenable that never settles", `return { then() {} }`, /run_stalled/],
    ["a toJSON without end", `return { toJSON() { for (;;); } }`, late],
    ["a then that loops for everybody", `Object.defineProperty(Object.prototype, "then", { get() { for (;;); } }); return {}`, late],
    ["microtasks after the end", `(async () => { for (;;) await null; })(); return 1`, late],
  ])("end in a limit: %s", async (_, body, code) => {
    const timeoutMs = code === late ? 300 : patientMs;
    expect(errorOf(await range.attack(body, { limits: { timeoutMs, memoryMb: 64 } }))).toMatchObject({
      outcome: "limited",
      code: expect.stringMatching(code) as string,
    });
  });
});

describe("errors", () => {
  it.each([
    ["null", `throw null`, "null"],
    ["a symbol", `throw Symbol("s")`, "Symbol(s)"],
    ["a function", `throw function f() {}`, "function f()"],
    ["a revoked proxy", `const r = Proxy.revocable({}, {}); r.revoke(); throw r.proxy`, "an object without a message was thrown"],
    [
      "an error of throwing getters",
      `const e = new Error("m"); for (const k of ["name", "message", "stack", "cause", "code", "toJSON", "toString"]) Object.defineProperty(e, k, { get() { throw k; } }); throw e`,
      "an object without a message was thrown",
    ],
    ["an error that causes itself", `const e = new Error("m"); e.cause = e; throw e`, "m"],
    ["a then that throws", `return { get then() { throw new Error("then!"); } }`, "then!"],
    ["a broken prepareStackTrace", `Error.prepareStackTrace = () => { throw new Error("p"); }; throw new Error("m")`, "m"],
    ["one in a microtask", `queueMicrotask(() => { throw new Error("q"); }); await new Promise((ok) => setTimeout(ok, 5));`, "q"],
    ["one in a timer", `setTimeout(() => { throw new TypeError("t"); }, 1); await new Promise((ok) => setTimeout(ok, 100));`, "t"],
    ["an unhandled one", `Promise.reject(new Error("r")); await new Promise((ok) => setTimeout(ok, 5));`, "r"],
    ["an unhandled null", `Promise.reject(null); await new Promise((ok) => setTimeout(ok, 5));`, "rejected with null"],
  ])("are reported for %s", async (_, body, message) => {
    expect(errorOf(await range.attack(body))).toMatchObject({
      outcome: "threw",
      message: expect.stringContaining(message) as string,
    });
  });

  it("cannot claim to be one of our limit errors", async () => {
    const execution = errorOf(await range.attack(`throw Object.assign(new Error("x"), { name: "LimitError", code: "memory_limit" })`));
    expect(execution).toMatchObject({ outcome: "threw" });
    expect(execution.code).toBeUndefined();
  });

  it("of the host carry neither stack nor path of the host", async () => {
    const body = `const zlib = __builtin("zlib"), crypto = __builtin("crypto"), fs = __builtin("fs"); const stacks = [];
      for (const f of [() => zlib.gunzipSync("x"), () => crypto.createPrivateKey("x"), () => crypto.createHash("no"), () => fs.readFileSync("/etc/passwd"), () => process.binding("fs"), () => __builtin("child_process").spawnSync("id"), () => process.kill(1, 9)]) try { f(); } catch (e) { stacks.push(e.stack); }
      await fetch("http://127.0.0.1:1/").catch((e) => stacks.push(e.stack, e.cause.stack)); return [stacks.length, stacks.filter((s) => /node:internal|file:|runner\\/|node_modules/.test(s))];`;
    expect(await range.attack(body)).toMatchObject({ result: "[9,[]]" });
  });
});

describe("the bridge", () => {
  it("never exposes its outbox, whatever an array's constructor or a promise's species is", async () => {
    const body = `let seen = 0; const spy = { configurable: true, get() { if (Array.isArray(this) && Array.isArray(this[0]) && typeof this[0][1] === "string") seen++; return Array; } };
      Object.defineProperty(Array.prototype, "constructor", spy); for (let i = 0; i < 600; i++) console.log(i); await new Promise((ok) => setTimeout(ok, 1)); console.log("y"); await new Promise((ok) => setTimeout(ok, 1)); return seen;`;
    expect(await range.attack(body)).toMatchObject({ outcome: "returned", result: "0" });
    const species = `Array.prototype.constructor = { [Symbol.species]: function () { throw new Error("species"); } }; this.$emit(1); await new Promise((ok) => setTimeout(ok, 2)); return 1;`;
    expect(await range.attack(species)).toMatchObject({ outcome: "returned", result: "1" });
  });

  it("copies bytes at the call", async () => {
    const bytes = `const bytes = new Uint8Array(new ArrayBuffer(8, { maxByteLength: 2 ** 30 })); bytes[0] = 65;`;
    expect(
      ended(await range.attack(`${bytes} this.http.respond({ status: 200, body: bytes }); bytes[0] = 66; bytes.buffer.transfer();`))
        .response?.body,
    ).toBe("QQAAAAAAAAA=");
  });

  it.each([
    ["functions in an algorithm", `crypto.subtle.digest({ name: { toString() {} } }, new Uint8Array(1))`],
    [
      "bottomless nesting",
      `(() => { let x = {}; for (let i = 0; i < 1000; i++) x = { x }; return crypto.subtle.digest({ name: "SHA-256", x }, new Uint8Array(1)); })()`,
    ],
  ])("refuses arguments that would occupy the host: %s", async (_, call) => {
    expect(
      errorOf(
        await range.attack(`try { await ${call}; return "taken"; } catch (e) { throw new TypeError(e.message); }`, {
          limits: { timeoutMs: 500 },
        }),
      ),
    ).toMatchObject({ outcome: expect.stringMatching(/threw|limited/) as string });
  });

  it("is re-entered without harm", async () => {
    const body = `const emit = this.$emit; const zlib = __builtin("zlib"); let n = 0; emit({ get a() { emit({ get b() { emit(1); return zlib.gzipSync("x", { get level() { return n++ < 20 ? (emit("level"), 1) : 1; } }).length; } }); return 3; } });`;
    expect(emitted(await range.attack(body)).at(-1)).toEqual({ a: 3 });
  });

  it("ends the component's own run when every intrinsic is replaced", async () => {
    const body = `const emit = this.$emit; const define = Object.defineProperty; const own = Reflect.ownKeys; const Type = TypeError;
      for (const o of [Object, Reflect, JSON, Math, Array, Promise, Map, Set, String, Symbol, Number, Date, RegExp, Error, Function, ArrayBuffer, Uint8Array, WeakMap]) for (const t of [o, o.prototype]) if (t) for (const k of own(t)) if (k !== "constructor" && k !== "prototype") try { define(t, k, { configurable: true, value() { throw new Type("patched"); } }); } catch {}
      emit({ a: 1 });`;
    expect(errorOf(await range.attack(body))).toMatchObject({ outcome: "threw", message: "patched" });
  });

  it("ignores names like ours on Object.prototype", async () => {
    const body = `for (const k of ["0", "1", "status", "headers", "id", "name", "ts", "code", "message", "resolve", "reject", "url", "method", "host", "tls", "callback", "dueAt"]) Object.defineProperty(Object.prototype, k, { configurable: true, get() {}, set(value) { Object.defineProperty(this, k, { value, writable: true, configurable: true, enumerable: true }); } });
      this.$emit({ a: 1 }, { id: "i" }); this.db.set("k", 1); await new Promise((ok) => setTimeout(ok, 2)); const e = await fetch("http://127.0.0.1:1/").catch((e) => e); return e.cause.code;`;
    expect(await range.attack(body)).toMatchObject({
      outcome: "returned",
      result: `"ECONNREFUSED"`,
      emits: [{ payload: `{"a":1}`, id: "i" }],
    });
  });
});

describe("emits, db and responses", () => {
  it("are refused when nested too deeply", async () => {
    const deep = (levels: number): string => `let x = 1; for (let i = 0; i < ${levels}; i++) x = [x];`;
    expect(emitted(await range.attack(`${deep(900)} this.$emit("[".repeat(100000)); this.$emit(x);`))).toHaveLength(2);
    expect(errorOf(await range.attack(`${deep(1_100)} this.$emit(x);`))).toMatchObject({
      outcome: "limited",
      code: "emit_too_large",
    });
    expect(errorOf(await range.attack(`${deep(1_100)} this.db.set("k", x);`))).toMatchObject({
      outcome: "limited",
      code: "db_too_large",
    });
  });

  it("have no invalid times", async () => {
    const execution = ended(
      await range.attack(
        `for (const ts of [1e300, -1e300, Infinity, NaN, "x", new Date(NaN), {}, "9".repeat(400), 8.64e15, -8.64e15, 8.1e15]) this.$emit(1, { ts, delivery_ts: ts });`,
      ),
    );
    expect(execution.emits.filter((emit) => emit.ts !== undefined || emit.deliverAt !== undefined)).toEqual([]);
  });

  it("have times that every reader of the run can parse, whatever the clock says", async () => {
    const body = `Date.now = () => 8.6e15; console.log("x"); for (const ts of [8e15, -8e15, 8e15 + 2, 8.3e15]) this.$emit(1, { ts, delivery_ts: ts });`;
    const { emits, logs } = ended(await range.attack(body));
    const times = [...emits.flatMap(({ ts, deliverAt, at }) => [ts, deliverAt, at]), ...logs.map(({ ts }) => ts)];
    expect(times.filter((time) => time !== undefined && Math.abs(time) > maxTimestampMs)).toEqual([]);
    expect(emits.map(({ ts }) => ts)).toEqual([8e15, -8e15, undefined, undefined]);
  });

  it.each([
    ["a line break in a header", `this.http.respond({ status: 200, headers: { a: "x\\r\\nset-cookie: y" } })`, "invalid_response"],
    ["a line break in a header's name", `this.http.respond({ status: 200, headers: { "a\\r\\nb": "x" } })`, "invalid_response"],
    [
      "a proxy that says so of its headers",
      `this.http.respond({ status: 200, headers: new Proxy({}, { ownKeys: () => ["a"], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }), get: (_, k) => k === "forEach" ? undefined : "x\\ny" }) })`,
      "invalid_response",
    ],
    [
      "twenty thousand headers",
      `this.http.respond({ status: 200, headers: Object.fromEntries(Array.from({ length: 20000 }, (_, i) => ["h" + i, "v"])) })`,
      "response_too_large",
    ],
    ["six million bytes in two million characters", `this.http.respond({ status: 200, body: "€".repeat(2e6) })`, "response_too_large"],
    ["a symbol as an id", `this.$emit(1, { id: Symbol("x") })`, "invalid_emit_id"],
  ])("are refused by name: %s", async (_, body, code) => {
    expect(errorOf(await range.attack(body))).toMatchObject({ outcome: "threw", code });
  });
});

describe("from run to run of one source", () => {
  it("no timer, request or response continues; kept objects belong to the new run", async () => {
    const code = `let first; export default { name: "s", props: { http: "$.interface.http" }, async run() {
      if (first === undefined) { first = this; globalThis.seen = []; setTimeout(() => seen.push("timer"), 1); setInterval(() => seen.push("interval"), 1); fetch("http://127.0.0.1:1/").catch(() => seen.push("fetch")); this.http.respond({ status: 200 }); return; }
      await new Promise((ok) => setTimeout(ok, 20)); try { first.http.respond({ status: 500 }); } catch (e) { seen.push(e.code); } first.$emit("kept"); return seen; } }`;
    await range.fixture.run(code, { source: "dc_state" });
    const second = await range.fixture.run(code, { source: "dc_state" });
    expect(second).toMatchObject({ outcome: "returned", result: `["already_responded"]`, response: null });
    expect(emitted(second)).toEqual(["kept"]);
  });
});
