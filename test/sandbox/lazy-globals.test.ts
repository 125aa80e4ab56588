import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSnippets, type Snippets } from "./web-support.ts";

/** Globals whose modules are evaluated when first read: user code must not see a difference. */
const names = `
  AbortController AbortSignal atob Blob btoa ByteLengthQueuingStrategy CloseEvent CompressionStream CountQueuingStrategy Crypto
  crypto CryptoKey CustomEvent DecompressionStream DOMException ErrorEvent Event EventTarget fetch File FormData Headers
  MessageChannel MessageEvent MessagePort Performance performance PerformanceEntry ReadableByteStreamController ReadableStream
  ReadableStreamBYOBReader ReadableStreamBYOBRequest ReadableStreamDefaultController ReadableStreamDefaultReader Request
  Response structuredClone SubtleCrypto TextDecoder TextDecoderStream TextEncoder TextEncoderStream TransformStream
  TransformStreamDefaultController URL URLSearchParams WebSocket WritableStream WritableStreamDefaultController
  WritableStreamDefaultWriter`
  .trim()
  .split(/\s+/);
const objects = new Set(["crypto", "performance"]);

let snippets: Snippets;
beforeAll(async () => {
  snippets = await startSnippets();
});
afterAll(() => snippets.stop());

describe("a global that is evaluated when it is first read", () => {
  it.each(names)("%s is what Node has", async (name) => {
    const looks = `const name = ${JSON.stringify(name)};
      const before = [name in globalThis, Object.hasOwn(globalThis, name)];
      const type = typeof globalThis[name];
      const { name: called } = globalThis[name];
      return [...before, type, type === "function" ? called : name, globalThis[name] === globalThis[name], eval(name) === globalThis[name]];`;
    const type = objects.has(name) ? "object" : "function";
    expect(await snippets.evaluate(looks)).toEqual([true, true, type, name, true, true]);
    const { [name]: inNode } = globalThis as unknown as Record<string, unknown>;
    if (inNode !== undefined) expect(typeof inNode).toBe(type);
  });

  it("is lazy until read, then a plain property", async () => {
    const looks = `const all = Object.getOwnPropertyDescriptors(globalThis);
      return ${JSON.stringify(names)}.filter((name) => {
      const before = all[name];
      const value = globalThis[name];
      const after = Object.getOwnPropertyDescriptor(globalThis, name);
      const isLazy = typeof before.get === "function" && typeof before.set === "function" && before.configurable && !before.enumerable;
      const isPlain = after.value === value && after.writable && after.configurable && !after.enumerable;
      return !isLazy || !isPlain;
    });`;
    expect(await snippets.evaluate(looks)).toEqual([]);
  });

  it("is not among the keys of the global object", async () => {
    const looks = `const lazy = new Set(${JSON.stringify(names)}); return Object.keys(globalThis).filter((key) => lazy.has(key));`;
    expect(await snippets.evaluate(looks)).toEqual([]);
  });

  it("can be replaced by a polyfill", async () => {
    const looks = `globalThis.fetch = async () => "assigned"; Headers = class Mine {};
      Object.defineProperty(globalThis, "URL", { value: "defined", configurable: true });
      const { get } = Object.getOwnPropertyDescriptor(globalThis, "FormData"); globalThis.FormData = "replaced";
      return [await fetch(), Headers.name, URL, get().name, FormData, Object.getOwnPropertyDescriptor(globalThis, "fetch").writable,
        new Response("", { headers: { a: "b" } }).headers.get("a")];`;
    expect(await snippets.evaluate(looks)).toEqual(["assigned", "Mine", "defined", "FormData", "replaced", true, "b"]);
  });

  it("can be deleted and put back", async () => {
    const looks = `const kept = Object.getOwnPropertyDescriptor(globalThis, "URL"); const gone = delete globalThis.URL;
      const type = typeof URL; Object.defineProperty(globalThis, "URL", kept); return [gone, type, new URL("http://a/b").href];`;
    expect(await snippets.evaluate(looks)).toEqual([true, "undefined", "http://a/b"]);
  });

  it("belongs to the global object alone", async () => {
    const looks = `const heir = Object.create(globalThis); heir.fetch = 1; const own = Object.hasOwn(heir, "fetch");
      return [own, Object.keys(heir), heir.URL === URL, typeof fetch];`;
    expect(await snippets.evaluate(looks)).toEqual([true, ["fetch"], true, "function"]);
  });

  it("can be read from a global object that is frozen", async () => {
    expect(await snippets.evaluate(`Object.freeze(globalThis); return [new URL("http://a/b").href, URL === URL];`)).toEqual([
      "http://a/b",
      true,
    ]);
  });

  it("is evaluated again after the stack was too full for it", async () => {
    const looks = `let failed = 0, worked = false, level = 0;
      const use = () => { try { new URL("http://a/"); worked = true; } catch { failed += 1; } };
      const dive = () => { try { dive(); } catch { level += 1; if (!worked && level % 10 === 0) use(); throw 1; } };
      try { dive(); } catch {} return [failed > 0, new URL("http://a/b?c=d").searchParams.get("c")];`;
    expect(await snippets.evaluate(looks)).toEqual([true, "d"]);
  });
});

it("gives classes their names also when only instances of them are seen", async () => {
  const looks = `const response = new Response("a=b", { headers: { "content-type": "application/x-www-form-urlencoded" } });
    const seen = [response.headers, response.body, new Request("https://x/").signal, new URL("http://a").searchParams, new AbortController().signal,
      await new Response("a=b", { headers: response.headers }).formData(), await new Response("x").blob(), new MessageChannel().port1];
    try { atob("!"); } catch (error) { seen.push(error); }
    return seen.map((one) => one.constructor.name);`;
  expect(await snippets.evaluate(looks)).toEqual(
    "Headers ReadableStream AbortSignal URLSearchParams AbortSignal FormData Blob MessagePort DOMException".split(" "),
  );
});

it("counts performance.now() from the start of the isolate, whenever it is first asked", async () => {
  const looks = `const start = Date.now(); while (Date.now() - start < 20); return performance.now() >= 20 && performance.timeOrigin <= start;`;
  expect(await snippets.evaluate(looks)).toBe(true);
});

describe("user code that replaced intrinsics before a module is evaluated", () => {
  /** Keeps all that replaced intrinsics are shown, then uses what was never read before; answers what was seen of the bridge. */
  const spying = (replace: string, use: string): string => `
    const seen = new Set(); const { apply } = Reflect; const { add } = Set.prototype; const { getOwnPropertyNames } = Object;
    const keep = (...values) => { for (let i = 0; i < values.length; i++) { const value = values[i];
      if ((typeof value === "object" && value !== null) || typeof value === "function") apply(add, seen, [value]); } };
    const spied = (owner, name) => { const original = owner[name];
      owner[name] = function (...args) { keep(this, ...args); const result = apply(original, this, args); keep(result); return result; }; };
    const restore = [];
    ${replace}
    let outcome; try { outcome = await (async () => { ${use} })(); } catch (error) { outcome = error.name; }
    for (const undo of restore) undo();
    const ours = ["post", "sync", "onRunEnd", "endRun", "bind", "dispatch"];
    return [typeof outcome, [...seen].flatMap((value) => ours.filter((name) => Object.hasOwn(value, name) || (typeof value === "function" && value.name === name && Function.prototype.toString.call(value).includes("outbox"))))];`;

  const useWeb = `new URL("https://x/a?b=c"); new Response("x"); new FormData(); new CompressionStream("gzip"); crypto.randomUUID(); structuredClone({});
    fetch("data:,x"); new WebSocket("ws://127.0.0.1:1/").close(); return "used";`;
  const useNode = `for (const name of ["crypto", "http", "net", "dns", "zlib", "url", "tls"]) process.getBuiltinModule(name); return "used";`;
  const intrinsics = {
    "the methods of arrays": `for (const name of ["push", "map", "filter", "slice", "forEach", "concat", "join", "includes"]) spied(Array.prototype, name);`,
    "how arrays are iterated": `{ const original = Array.prototype[Symbol.iterator]; Array.prototype[Symbol.iterator] = function () { keep(this); return apply(original, this, []); }; }`,
    "how functions are called": `{ const { call } = Function.prototype; const bound = Reflect.apply; restore.push(() => { Function.prototype.call = call; });
      Function.prototype.call = function (self, ...args) { keep(this, self, ...args); return bound(this, self, args); }; }`,
    "Map and Object.defineProperty": `for (const name of ["get", "set", "has"]) spied(Map.prototype, name); for (const name of ["defineProperty", "assign", "create", "entries"]) spied(Object, name);`,
    "what all objects inherit": `for (const name of ["__esModule", "default", "modules", "exports", "value", "get", "set"]) { restore.push(() => { delete Object.prototype[name]; });
      Object.defineProperty(Object.prototype, name, { __proto__: null, configurable: true, get() { keep(this); return undefined; }, set(value) { keep(this, value); } }); }`,
  };
  const expectNothingSeen = async (code: string, modules?: string): Promise<void> => {
    expect(await snippets.evaluate(code, modules)).toEqual(["string", []]);
  };

  it.each(Object.entries(intrinsics))("sees nothing of the bridge by %s", async (_, replace) => {
    await expectNothingSeen(spying(replace, useWeb));
    await expectNothingSeen(spying(replace, useNode), `import "node:path";`);
  });

  it("gets its own error from methods that throw, and none of our objects", async () => {
    const code = `Array.prototype.map = Array.prototype.slice = String.prototype.codePointAt = () => { throw new RangeError("mine"); };
      try { return new URL("https://x/a?b=c").href; } catch (error) { return error.message; }`;
    expect(["mine", "https://x/a?b=c"]).toContain(await snippets.evaluate(code));
  });
});

it("cannot reach the loader by name", async () => {
  const looks = `return ["__shared", "__bind", "require", "module", "exports", "__isOwn"].filter((name) => name in globalThis);`;
  expect(await snippets.evaluate(looks, `import "node:path";`)).toEqual([]);
});
