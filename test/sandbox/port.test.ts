import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { emitted, ended, errorOf, requestFor, type SandboxFixture, shareSandbox } from "./sandbox-fixture.ts";

let fixture: SandboxFixture;
beforeAll(async () => {
  fixture = await shareSandbox();
});
afterAll(() => fixture.stop());
const run: SandboxFixture["run"] = (...args) => fixture.run(...args);

describe("an execution", () => {
  it("returns what run returned, as JSON text", async () => {
    expect(await run(`export default { name: "c", run: () => ({ a: [1, "x"] }) }`)).toMatchObject({
      outcome: "returned",
      result: `{"a":[1,"x"]}`,
      response: null,
    });
  });

  it("has no result when it is not JSON or larger than 64 KiB", async () => {
    expect(await run(`export default { name: "c", run: () => () => 1 }`)).toMatchObject({
      outcome: "returned",
      result: null,
    });
    expect(await run(`export default { name: "c", run: () => "x".repeat(70000) }`)).toMatchObject({
      outcome: "returned",
      result: null,
    });
    expect(await run(`export default { name: "c", run: () => 10n }`)).toMatchObject({
      outcome: "returned",
      result: null,
    });
  });

  it("reports its cost", async () => {
    const { cpuMs, durationMs } = ended(
      await run(`export default { name: "c", run() { const end = Date.now() + 50; while (Date.now() < end); } }`),
    );
    expect(cpuMs).toBeGreaterThan(20);
    expect(durationMs).toBeGreaterThanOrEqual(50);
  });

  it("reports the error that run threw, with only the component's frames in the stack", async () => {
    const error = errorOf(await run(`export default { name: "c", async run() { await null; throw new RangeError("too far"); } }`));
    expect(error).toMatchObject({ outcome: "threw", name: "RangeError", message: "too far" });
    expect(error.stack).toContain("component.js:");
    expect(error.stack).not.toMatch(/sandbox:|isolated-vm|file:\/\/|node:/);
  });

  it("keeps the name of the user's own error class and ignores its code", async () => {
    const code = `class Oops extends Error { name = "Oops"; code = "run_timeout"; } export default { name: "c", run() { throw new Oops("x"); } }`;
    const error = errorOf(await run(code));
    expect(error).toMatchObject({ name: "Oops", message: "x" });
    expect(error.code).toBeUndefined();
  });

  it("describes thrown values that are not errors", async () => {
    expect(errorOf(await run(`export default { name: "c", run() { throw "text"; } }`))).toMatchObject({
      outcome: "threw",
      message: "text",
    });
    expect(errorOf(await run(`export default { name: "c", run() { throw { a: 1 }; } }`))).toMatchObject({
      message: `{"a":1}`,
    });
    expect(errorOf(await run(`export default { name: "c", run() { throw undefined; } }`))).toMatchObject({
      message: "undefined",
    });
  });

  it("keeps what was emitted and stored before the throw", async () => {
    const execution = await run(
      `export default { name: "c", props: { db: "$.service.db" }, async run() { this.$emit(1); this.db.set("k", 2); await null; this.$emit(2); throw new Error("x"); } }`,
    );
    expect(emitted(execution)).toEqual([1, 2]);
    expect(ended(execution).db).toEqual({ db: { k: "2" } });
  });

  it("fails by an error in a timer or an unhandled rejection, and keeps its emits", async () => {
    const timer = await run(
      `export default { name: "c", run() { this.$emit(1); setTimeout(() => { throw new TypeError("in timer") }, 1); return new Promise(() => setTimeout(() => {}, 1000)); } }`,
    );
    expect(errorOf(timer)).toMatchObject({ outcome: "threw", name: "TypeError", message: "in timer" });
    const rejection = await run(
      `export default { name: "c", async run() { this.$emit(1); Promise.reject(new RangeError("lost")); await new Promise((r) => setTimeout(r, 50)); } }`,
    );
    expect(errorOf(rejection)).toMatchObject({ outcome: "threw", name: "RangeError", message: "lost" });
    expect([emitted(timer), emitted(rejection)]).toEqual([[1], [1]]);
  });

  it("runs hooks; a missing hook does nothing", async () => {
    const code = `export default { name: "c", hooks: { async deploy() { this.$emit("deployed"); } }, run() {} }`;
    expect(emitted(await run(code, { entry: "deploy" }))).toEqual(["deployed"]);
    expect(await run(code, { entry: "activate" })).toMatchObject({ outcome: "returned", emits: [] });
  });
});

describe("this", () => {
  it("has props, defaults, methods bound to it, and $emit in methods", async () => {
    const code = `export default { name: "c", props: { given: { type: "string" }, preset: { type: "integer", default: 7 }, none: { type: "string" } },
      methods: { send() { this.$emit([this.given, this.preset, this.none === undefined, this.extra]); } }, run() { const { send } = this; send(); } }`;
    expect(emitted(await run(code, { props: `{"given":"a","extra":{"x":1}}` }))).toEqual([["a", 7, true, { x: 1 }]]);
  });

  it("has app props with bound methods and hidden credentials", async () => {
    const code = `const app = { type: "app", app: "slack", methods: { token() { return this.$auth.token; }, both() { return this.token() + "!"; } } };
      export default { name: "c", props: { app }, run() { const { both } = this.app; this.$emit([both(), JSON.stringify(this.app), Object.keys(this.app)]); } }`;
    expect(emitted(await run(code, { props: `{"app":{"$auth":{"token":"t"}}}` }))).toEqual([["t!", "{}", ["token", "both"]]]);
  });

  it("takes defaults from prop definitions of apps, local fields first, nested ones too", async () => {
    const code = `const base = { propDefinitions: { a: { type: "string", default: "base" } } };
      const app = { type: "app", app: "x", propDefinitions: { b: { propDefinition: [base, "a"] }, c: { type: "string", default: "app" } } };
      export default { name: "c", props: { app, b: { propDefinition: [app, "b"] }, c: { propDefinition: [app, "c"], default: "own" } }, run() { this.$emit([this.b, this.c]); } }`;
    expect(emitted(await run(code))).toEqual([["base", "own"]]);
  });

  it("has the timer's value and the endpoint", async () => {
    const code = `export default { name: "c", props: { timer: { type: "$.interface.timer" }, http: "$.interface.http" }, run() { this.$emit([this.timer, this.http.endpoint]); } }`;
    expect(emitted(await run(code, { props: `{"timer":{"intervalSeconds":60}}`, endpoint: "https://e/x" }))).toEqual([
      [{ intervalSeconds: 60 }, "https://e/x"],
    ]);
  });

  it("works for module.exports and a default within a default", async () => {
    expect(emitted(await run(`module.exports = { name: "c", run() { this.$emit(1); } }`))).toEqual([1]);
    expect(emitted(await run(`export default { default: { name: "c", run() { this.$emit(1); } } }`))).toEqual([1]);
  });
});

describe("$emit", () => {
  it("takes the event as it is at the call, and its metadata", async () => {
    const code = `export default { name: "c", run() { const e = { a: 1 }; this.$emit(e, { id: 5, name: "ch", summary: "s", ts: 1000, delivery_ts: 2000 }); e.a = 2; this.$emit(); this.$emit(new Date(0), { id: "x", ts: new Date(5) }); } }`;
    const [first, second, third] = ended(await run(code)).emits;
    expect(first).toMatchObject({ payload: `{"a":1}`, id: 5, name: "ch", summary: "s", ts: 1000, deliverAt: 2000 });
    expect(second).toEqual({ payload: "null", at: expect.any(Number) as number });
    expect(third).toMatchObject({ payload: `"1970-01-01T00:00:00.000Z"`, id: "x", ts: 5 });
  });

  it("refuses ids that are neither text nor number, and events over 1 MiB", async () => {
    expect(errorOf(await run(`export default { name: "c", run() { this.$emit(1, { id: {} }); } }`))).toMatchObject({
      outcome: "threw",
      code: "invalid_emit_id",
    });
    expect(errorOf(await run(`export default { name: "c", run() { this.$emit(1, { id: "x".repeat(70000) }); } }`))).toMatchObject({
      outcome: "threw",
      code: "invalid_emit_id",
    });
    expect(errorOf(await run(`export default { name: "c", run() { this.$emit("x".repeat(2**20)); } }`))).toMatchObject({
      outcome: "threw",
      code: "emit_too_large",
    });
    expect(errorOf(await run(`export default { name: "c", run() { for (;;) this.$emit(1); } }`))).toMatchObject({
      outcome: "threw",
      code: "emit_limit",
    });
    expect(errorOf(await run(`export default { name: "c", run() { for (;;) this.$emit("x".repeat(2**19)); } }`))).toMatchObject({
      outcome: "limited",
      code: "emit_limit",
    });
  });
});

describe("db", () => {
  it("is synchronous, reads stored values and reports only changes", async () => {
    const code = `export default { name: "c", props: { a: "$.service.db", b: { type: "$.service.db" } }, run() {
      this.$emit([this.a.get("n"), this.a.get("gone") === undefined, this.b.get("n") === undefined]);
      this.a.set("n", this.a.get("n") + 1); this.b.set("list", [1]); this.a.set("old", undefined); this.a.set("__proto__", 1);
      this.$emit([this.a.get("n"), this.b.get("list"), this.a.get("old") === undefined, ({}).x === undefined]); } }`;
    const execution = await run(code, { db: { a: { n: "1", old: "true", kept: "0" } } });
    expect(emitted(execution)).toEqual([
      [1, true, true],
      [2, [1], true, true],
    ]);
    expect(Object.entries(ended(execution).db["a"] ?? {})).toEqual([
      ["n", "2"],
      ["old", null],
      ["__proto__", "1"],
    ]);
    expect(ended(execution).db["b"]).toEqual({ list: "[1]" });
  });

  it("hands out copies", async () => {
    const code = `export default { name: "c", props: { db: "$.service.db" }, run() { this.db.set("o", { a: 1 }); this.db.get("o").a = 2; this.$emit(this.db.get("o").a); } }`;
    expect(emitted(await run(code))).toEqual([1]);
  });

  it("refuses more than 60 KiB in all, and what JSON cannot hold", async () => {
    const code = `export default { name: "c", props: { db: "$.service.db" }, run() { this.$emit(1); this.db.set("x", "y".repeat(40000)); } }`;
    const execution = await run(code, { db: { db: { old: JSON.stringify("z".repeat(30000)) } } });
    expect(errorOf(execution)).toMatchObject({ outcome: "threw", code: "db_too_large" });
    expect(emitted(execution)).toEqual([1]);
    expect(ended(execution).db).toEqual({});
    expect(await run(code)).toMatchObject({ outcome: "returned" });
    expect(
      errorOf(await run(`export default { name: "c", props: { db: "$.service.db" }, run() { this.db.set("x", () => 1); } }`)),
    ).toMatchObject({ code: "db_not_json" });
  });
});

describe("http", () => {
  const respond = (response: string): string =>
    `export default { name: "c", props: { http: "$.interface.http" }, run() { this.http.respond(${response}); } }`;

  it("responds at once, while the run goes on", async () => {
    const bundle = await fixture.bundle(
      `export default { name: "c", props: { http: "$.interface.http" }, async run() { this.http.respond({ status: "201", headers: { "X-A": 1, b: ["c", "d"] }, body: { ok: true } }); await new Promise((r) => setTimeout(r, 200)); } }`,
    );
    const times: number[] = [];
    const execution = await fixture.sandbox.execute(requestFor(bundle, { source: "dc_http" }), () => void times.push(performance.now()));
    expect(performance.now() - (times[0] ?? Infinity)).toBeGreaterThan(100);
    expect(ended(execution).response).toEqual({
      status: 201,
      headers: { "X-A": "1", b: ["c", "d"], "content-type": "application/json; charset=utf-8" },
      body: `{"ok":true}`,
    });
  });

  it("takes texts, bytes and no body", async () => {
    expect(await run(respond(`{ status: 200, body: "text" }`))).toMatchObject({
      response: { status: 200, headers: {}, body: "text" },
    });
    expect(await run(respond(`{ status: 200, body: new Uint8Array([0, 255, 1]).subarray(1) }`))).toMatchObject({
      response: { body: "/wE=", base64: true },
    });
    expect(await run(respond(`{ status: 204 }`))).toMatchObject({ response: { status: 204, body: "" } });
  });

  it.each(["99", "600", "200.5", `"x"`, "undefined"])("refuses the status %s", async (status) => {
    expect(errorOf(await run(respond(`{ status: ${status} }`)))).toMatchObject({
      outcome: "threw",
      code: "invalid_response",
    });
  });

  it.each(["100", `"103"`, "199"])("refuses the status %s, after which a client would keep waiting", async (status) => {
    expect(errorOf(await run(respond(`{ status: ${status} }`)))).toMatchObject({
      outcome: "threw",
      code: "invalid_response",
      message: `the status given to respond() must be an integer from 200 to 599, got ${status.replaceAll(`"`, "'")}, which only announces a response`,
    });
  });

  const event = (fields: object): string =>
    JSON.stringify({
      method: "POST",
      path: "/",
      url: "https://e/",
      query: {},
      headers: {},
      client_ip: "1.2.3.4",
      ...fields,
    });
  const echo = `export default { name: "c", run({ body, bodyRaw }) { this.$emit({ body, bodyRaw }); } }`;

  it("parses a JSON body with a JSON content type", async () => {
    const headers = { "content-type": "application/vnd.x+json; charset=utf-8" };
    expect(emitted(await run(echo, { event: event({ headers, bodyRaw: `{"a":1}` }) }))).toEqual([{ body: { a: 1 }, bodyRaw: `{"a":1}` }]);
    expect(emitted(await run(echo, { event: event({ headers, bodyRaw: `{"a` }) }))).toEqual([{ body: `{"a`, bodyRaw: `{"a` }]);
    expect(emitted(await run(echo, { event: event({ bodyRaw: `{"a":1}` }) }))).toEqual([{ body: `{"a":1}`, bodyRaw: `{"a":1}` }]);
    const plain = { "content-type": "text/plain; charset=UTF-8" };
    expect(emitted(await run(echo, { event: event({ headers: plain, bodyRaw: `{"a":1}` }) }))).toEqual([
      { body: { a: 1 }, bodyRaw: `{"a":1}` },
    ]);
    for (const bodyRaw of ["5", `"a"`, "{a", "null"]) {
      expect(emitted(await run(echo, { event: event({ headers: plain, bodyRaw }) }))).toEqual([{ body: bodyRaw, bodyRaw }]);
    }
    expect(emitted(await run(echo, { event: event({ headers, bodyRaw: "a=1", body: { a: "1" } }) }))).toEqual([
      { body: { a: "1" }, bodyRaw: "a=1" },
    ]);
  });
});

describe("time", () => {
  it("runs timers in order, with promises settling in between", async () => {
    const code = `export default { name: "c", async run() { const seen = []; const say = (x) => () => { seen.push(x); Promise.resolve().then(() => seen.push(x + "'")); };
      setTimeout(say("b"), 20); setTimeout(say("a"), 5); setImmediate(say("i")); const gone = setTimeout(say("x"), 1); clearTimeout(gone);
      let n = 0; await new Promise((r) => { const t = setInterval(() => { if (++n === 3) { clearInterval(t); r(); } }, 10); }); this.$emit([seen, n]); } }`;
    expect(emitted(await run(code))).toEqual([[["i", "i'", "a", "a'", "b", "b'"], 3]]);
  });

  it("drops timers that the run left", async () => {
    const code = `let late = 0; export default { name: "c", async run(ms) { setTimeout(() => { late++; }, 5); if (ms) await new Promise((r) => setTimeout(r, ms)); return late; } }`;
    const bundle = await fixture.bundle(code);
    await fixture.sandbox.execute(requestFor(bundle, { source: "dc_late", event: "0" }));
    const second = await fixture.sandbox.execute(requestFor(bundle, { source: "dc_late", event: "50" }));
    expect(second).toMatchObject({ result: "1" });
  });

  it("ends a run at its time limit", async () => {
    const execution = await run(
      `export default { name: "c", async run() { this.$emit(1); for (;;) await new Promise((r) => setTimeout(r, 10)); } }`,
      { limits: { timeoutMs: 300 } },
    );
    expect(errorOf(execution)).toMatchObject({ outcome: "limited", code: "run_timeout" });
    expect(emitted(execution)).toEqual([1]);
  });

  it("fails at once when a run waits for something that cannot happen", async () => {
    expect(errorOf(await run(`export default { name: "c", run: () => new Promise(() => {}) }`))).toMatchObject({
      outcome: "limited",
      code: "run_stalled",
    });
  });
});

describe("the log", () => {
  it("has a record for each call of console, formatted", async () => {
    const code = `console.log("loaded"); export default { name: "c", run() { console.log("a %s %d", "b", 1, { c: [1, { d: new Map([["k", 1]]) }] }); console.error(new RangeError("e").message); } }`;
    expect(ended(await run(code)).logs.map(({ k, msg }) => [k, msg])).toEqual([
      ["console.log", "loaded"],
      ["console.log", "a b 1 { c: [ 1, { d: [Map] } ] }"],
      ["console.error", "e"],
    ]);
  });

  it("is cut with a notice, without failing the run", async () => {
    const { outcome, logs } = ended(
      await run(`export default { name: "c", run() { console.log("x".repeat(100000)); for (let i = 0; i < 12000; i++) console.log(i); } }`),
    );
    expect(outcome).toBe("returned");
    expect(logs).toHaveLength(10001);
    expect(logs[0]?.msg?.length).toBeLessThan(17_000);
    expect(logs.at(-1)?.msg).toContain("log_limit");
  });
});

describe("isolates", () => {
  const counter = `let runs = 0; export default { name: "c", run: () => ++runs }`;

  it("stay warm per source and revision", async () => {
    const bundle = await fixture.bundle(counter);
    const result = async (source: string, revision: string): Promise<unknown> =>
      ended(await fixture.sandbox.execute(requestFor(bundle, { source, revision })));
    expect(await result("dc_w1", "1")).toMatchObject({ result: "1" });
    expect(await result("dc_w1", "1")).toMatchObject({ result: "2" });
    expect(await result("dc_w2", "1")).toMatchObject({ result: "1" });
    expect(await result("dc_w1", "2")).toMatchObject({ result: "1" });
    fixture.sandbox.evict("dc_w1");
    expect(await result("dc_w1", "2")).toMatchObject({ result: "1" });
  });

  it("are not reused after a limit or an uncaught error", async () => {
    const bundle = await fixture.bundle(
      `let runs = 0; export default { name: "c", async run(how) { runs++; if (how === "loop") for (;;); if (how === "reject") { Promise.reject(new Error("x")); await new Promise((r) => setTimeout(r, 20)); } return runs; } }`,
    );
    const result = (event: string, limits = {}): Promise<unknown> =>
      fixture.sandbox.execute(requestFor(bundle, { source: "dc_spent", event: JSON.stringify(event), limits }));
    expect(await result("")).toMatchObject({ result: "1" });
    expect(await result("loop", { timeoutMs: 300 })).toMatchObject({ outcome: "limited" });
    expect(await result("")).toMatchObject({ result: "1" });
    expect(await result("reject")).toMatchObject({ outcome: "threw" });
    expect(await result("")).toMatchObject({ result: "1" });
  });
});
