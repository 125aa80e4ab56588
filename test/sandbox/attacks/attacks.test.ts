import { describe, expect, it } from "vitest";
import type { Execution } from "../../../runner/sandbox/port.ts";
import { openRange } from "./attack-range.ts";
import { ended, errorOf, type SandboxRequest } from "../sandbox-fixture.ts";

/** Attacks that kill the process on purpose are marked: their canary answers from the next process. */
const range = openRange();
/** Of runs that do not end by themselves. */
const limits = { timeoutMs: 300 };

const attack = (body: string, request: SandboxRequest = {}): Promise<Execution> => range.attack(body, request);

const result = async (body: string): Promise<unknown> => {
  const execution = await attack(`return (() => { ${body} })();`);
  return execution.outcome === "returned" ? JSON.parse(execution.result ?? "null") : errorOf(execution);
};

describe("escape", () => {
  it("constructors reach only the guest's own realm", async () => {
    const body = `const f = [].constructor.constructor; const g = f("return this")(); return [typeof g.require, typeof g.module, f("try { return typeof process.binding('fs') } catch { return 'undefined' }")()];`;
    expect(await result(body)).toEqual(["undefined", "undefined", "undefined"]);
  });

  it("no name of the sandbox is left, except the one by which bundles register", async () => {
    expect(await result(`return Object.getOwnPropertyNames(globalThis).filter((name) => name.startsWith("__"))`)).toEqual(["__register"]);
  });

  it("threads, shared memory and WebAssembly do not exist", async () => {
    const body = `const realm = (0, eval)("this"); let shared; try { shared = new realm.SharedArrayBuffer(8); } catch {} return [typeof realm.WebAssembly, typeof shared].concat(["wait", "waitAsync", "notify", "pause"].map((name) => typeof realm.Atomics[name]));`;
    expect(await result(body)).toEqual(Array(6).fill("undefined"));
  });

  it("nothing reachable is a handle of isolated-vm", async () => {
    const body = `const seen = new Set(); const queue = [globalThis, this]; let handles = 0;
      while (queue.length) { const o = queue.pop(); if ((typeof o !== "object" && typeof o !== "function") || o === null || seen.has(o)) continue; seen.add(o);
        try { if (/^(?:Reference|ExternalCopy|Isolate|Context|Callback|Script|Module)$/.test(o.constructor?.name ?? "") || "applySync" in o) handles++; } catch {}
        try { queue.push(Object.getPrototypeOf(o)); for (const d of Object.values(Object.getOwnPropertyDescriptors(o))) queue.push(d.value, d.get, d.set); } catch {} }
      return [handles, seen.size > 300];`;
    expect(await result(body)).toEqual([0, true]);
  });

  it("call sites expose no function of the prelude", async () => {
    const body = `Error.prepareStackTrace = (_, sites) => sites.map((site) => typeof site.getFunction() + typeof site.getThis()); 
      const inner = []; try { setTimeout("no") } catch (e) { inner.push(...e.stack) } return [...new Set(inner.concat(new Error().stack))].filter((x) => x.includes("function") || x.includes("object"));`;
    expect(await result(body)).toEqual([]);
  });

  it("imports of files, data and modules fail", async () => {
    const body = `const names = ["node:fs", "file:///etc/passwd", "data:text/javascript,export default 1"]; const tried = await Promise.allSettled(names.map((n) => (0, eval)("(n) => import(n)")(n))); return tried.map((t) => t.status);`;
    expect(await attack(body)).toMatchObject({ result: `["rejected","rejected","rejected"]` });
  });

  it("replaced intrinsics see only the component's own data and break only its run", async () => {
    const body = `let caught = 0; for (const [owner, name] of [[JSON, "stringify"], [JSON, "parse"], [Map.prototype, "get"], [Array.prototype, "push"], [Promise.prototype, "then"], [Reflect, "apply"], [Object, "defineProperty"], [Date, "now"]]) owner[name] = () => { caught++; };
      for (const index of [0, 1, 2, 3]) Reflect.defineProperty(Array.prototype, index, { configurable: true, set() { caught++; } });
      for (const name of ["get", "set", "value"]) Object.prototype[name] = () => { caught++; };
      Array.prototype[Symbol.iterator] = function* () { caught++; }; this.$emit({ a: 1 }, { id: "x" }); this.http.respond({ status: 200 }); return { caught };`;
    const execution = await attack(body);
    expect(ended(execution).emits).toMatchObject([{ payload: `{"a":1}`, id: "x" }]);
  });

  it("no prototype of the host is polluted", async () => {
    const body = `this.$emit(JSON.parse('{"__proto__":{"polluted":1}}'), JSON.parse('{"__proto__":{"polluted":1},"id":"__proto__"}')); this.db.set("__proto__", { polluted: 1 }); this.http.respond({ status: 200, headers: JSON.parse('{"__proto__":"x","constructor":"y"}') });`;
    const execution = await attack(body);
    expect(execution.outcome).toBe("returned");
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("props and runs of other sources are out of reach", async () => {
    await range.fixture.run(`globalThis.secret = 1; Object.prototype.leak = 2; export default { name: "c", run() {} }`, {
      props: `{"token":"s3cret"}`,
    });
    expect(await result(`return [typeof globalThis.secret, typeof ({}).leak]`)).toEqual(["undefined", "undefined"]);
  });
});

describe("floods", () => {
  it.each([
    ["timers", `for (let i = 0; i < 5000; i++) setTimeout(() => {}, 1000);`, "threw", "timer_limit"],
    ["emits", `for (;;) try { this.$emit(1) } catch {}`, "limited", "run_timeout"],
    ["db writes", `for (let i = 0; ; i++) this.db.set("k" + i, i);`, "limited", expect.stringMatching(/bridge_limit|run_timeout/)],
    [
      "large db writes",
      `for (let i = 0; ; i++) this.db.set("k" + i, "x".repeat(60000));`,
      "limited",
      expect.stringMatching(/bridge_limit|run_timeout/),
    ],
    ["responses", `for (;;) try { this.http.respond({ status: 200 }) } catch {}`, "limited", "run_timeout"],
    ["log lines", `for (;;) console.log("x".repeat(1000));`, "limited", expect.stringMatching(/bridge_limit|run_timeout/)],
  ])("of %s end the run", async (_, body, outcome, code) => {
    expect(errorOf(await attack(body, outcome === "limited" ? { limits } : {}))).toMatchObject({ outcome, code: code as string });
  });

  it("of deep nesting are refused before the host parses them", async () => {
    expect(errorOf(await attack(`this.$emit(JSON.parse("[".repeat(5000) + "]".repeat(5000)));`))).toMatchObject({
      outcome: expect.stringMatching(/returned|limited|threw/) as string,
    });
  });
});

describe("memory", () => {
  const limited = { outcome: "limited", code: "memory_limit" };
  it.each([
    ["arrays", `const all = []; for (;;) all.push(new Array(100_000).fill(1));`],
    [
      "texts",
      `let s = "x"; const all = []; for (;;) { all.push(s + all.length); s = s.length < 2 ** 20 ? s + s : s + "y"; JSON.parse(JSON.stringify(s)); }`,
    ],
    ["closures", `const all = []; for (;;) { const x = all.length; all.push(() => x); }`],
    ["maps", `const m = new Map(); for (let i = 0; ; i++) m.set({ i }, i);`],
  ])("is limited for %s", async (_, body) => {
    const execution = await attack(body, { limits: { memoryMb: 32 } });
    expect(errorOf(execution)).toMatchObject(limited);
  });

  it("in buffers is limited", async () => {
    const execution = await attack(`const all = []; for (;;) all.push(new Uint8Array(2 ** 20).fill(1));`, {
      limits: { memoryMb: 32 },
    });
    expect(["threw", "limited"]).toContain(execution.outcome);
  });

  it("in one huge string, a deep recursion or a huge error is the component's own error", async () => {
    expect(errorOf(await attack(`"x".repeat(2 ** 30);`))).toMatchObject({ outcome: "threw", name: "RangeError" });
    expect(errorOf(await attack(`const f = () => f(); f();`))).toMatchObject({ outcome: "threw", name: "RangeError" });
    const huge = errorOf(await attack(`throw new Error("x".repeat(2 ** 22));`));
    expect(huge.outcome).toBe("threw");
    expect(huge.message?.length).toBeLessThanOrEqual(8 * 1024);
  });

  it("that makes V8 abort kills the process, which is replaced", async () => {
    const execution = await attack(`const a = new Array(100 * 2 ** 20); for (let i = 0; i < a.length; i++) a[i] = i;`, {
      limits: { memoryMb: 32 },
    });
    expect(execution.outcome === "crashed" ? limited : errorOf(execution)).toMatchObject({
      outcome: "limited",
      code: expect.stringMatching(/memory_limit|cpu_limit/) as string,
    });
  });
});

describe("the network", () => {
  it.each([
    "http://169.254.169.254/",
    "http://[::ffff:169.254.169.254]/",
    "http://0xa9fea9fe/",
    "http://2852039166/",
    "http://10.0.0.1/",
    "http://[fd00::1]/",
    "http://0/",
  ])("is closed for %s", async (url) => {
    expect(
      await attack(
        `try { await fetch(${JSON.stringify(url)}); return "open"; } catch (e) { return String(e.cause?.message ?? e.message); }`,
      ),
    ).toMatchObject({ outcome: "returned", result: expect.stringMatching(/egress|denied|allowed/i) as string });
  });

  it.each(["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/"])("has no protocol for %s", async (url) => {
    expect(await attack(`try { await fetch(${JSON.stringify(url)}); return "open"; } catch { return "closed"; }`)).toMatchObject({
      result: `"closed"`,
    });
  });
});
