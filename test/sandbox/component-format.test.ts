import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Execution } from "../../runner/sandbox/port.ts";
import { type BuilderFixture, openBuilderFixture } from "./builder-fixture.ts";
import { ended, emitted, errorOf, requestFor, type SandboxRequest } from "./sandbox-fixture.ts";

/** Components as people write them, through the real builder: every form of module and of definition that is in use. */
let opened: BuilderFixture;
beforeAll(async () => {
  opened = await openBuilderFixture();
});
afterAll(() => opened.stop());

async function run(code: string, request: SandboxRequest = {}): Promise<Execution> {
  const build = await opened.builder.build({ code });
  return await opened.fixture.sandbox.execute(requestFor(opened.bundleOf(build), { source: build.bundle, ...request }));
}

async function emits(code: string, request: SandboxRequest = {}): Promise<unknown[]> {
  const execution = await run(code, request);
  if (execution.outcome !== "returned") throw new Error(JSON.stringify(errorOf(execution)));
  return emitted(execution);
}

describe("modules", () => {
  it.each([
    ["export default", `export default { name: "c", run() { this.$emit(1); } };`],
    ["a constant exported later", `const source = { name: "c", run() { this.$emit(1); } }; export { source as default };`],
    ["module.exports", `module.exports = { name: "c", run() { this.$emit(1); } };`],
    ["exports.default", `exports.default = { name: "c", run() { this.$emit(1); } };`],
    ["named exports beside the default", `export const helper = 1; export default { name: "c", run() { this.$emit(helper); } };`],
    ["run without async", `export default { name: "c", run() { this.$emit(1); } };`],
    [
      "run as an arrow function",
      `let emit; export default { name: "c", methods: { keep() { emit = this.$emit; } }, async run() { this.keep(); emit(1); } };`,
    ],
    [
      "an object made by a function",
      `const make = (n: number) => ({ name: "c", run(this: any) { this.$emit(n); } }); export default make(1);`,
    ],
    ["an instance of a class", `class Source { name = "c"; run(this: any) { this.$emit(1); } } export default new Source();`],
    [
      "methods of a class's prototype",
      `class Base { run(this: any) { this.$emit(1); } } class Source extends Base { name = "c"; } export default new Source();`,
    ],
    ["await at the top level", `const n = await Promise.resolve(1); export default { name: "c", run() { this.$emit(n); } };`],
    ["a byte order mark", `\uFEFFexport default { name: "c", run() { this.$emit(1); } };`],
    ["a hash-bang line", `#!/usr/bin/env node\nexport default { name: "c", run() { this.$emit(1); } };`],
    [
      "an export that asks what it runs in, and takes the branch for Node",
      `const inBrowser = typeof window !== "undefined" || typeof self !== "undefined" || typeof importScripts !== "undefined"; export default { name: "c", run() { this.$emit(inBrowser ? 0 : 1); } };`,
    ],
    ["Windows line ends", `export default {\r\n  name: "c",\r\n  run() { this.$emit(1); },\r\n};\r\n`],
    [
      "a promise of the module's own that is rejected and left alone, before and after a pause",
      `const forgotten = (async () => { WebAssembly.compile(); })(); await new Promise((ok) => setTimeout(ok, 1)); export default { name: "c", run() { this.$emit(1); } };`,
    ],
  ])("run: %s", async (_, code) => {
    expect(await emits(code)).toEqual([1]);
  });

  it.each([
    ["enums", `enum Color { Red = 1, Blue } export default { name: "c", run() { this.$emit([Color.Blue, Color[1]]); } };`, [2, "Red"]],
    ["const enums", `const enum Color { Red = 1 } export default { name: "c", run() { this.$emit([Color.Red]); } };`, [1]],
    ["namespaces", `namespace Space { export const one = 1; } export default { name: "c", run() { this.$emit([Space.one]); } };`, [1]],
    [
      "decorators",
      `const twice = (value: any, _context: any) => function (this: any) { return value.call(this) * 2; }; class A { @twice one() { return 1; } } export default { name: "c", run() { this.$emit([new A().one()]); } };`,
      [2],
    ],
    [
      "parameter properties",
      `class A { constructor(readonly one: number) {} } export default { name: "c", run() { this.$emit([new A(1).one]); } };`,
      [1],
    ],
    [
      "satisfies, generics, overloads",
      `function id<T>(value: T): T; function id(value: unknown) { return value; } export default { name: "c", run(this: any) { this.$emit([id<number>(1) satisfies number]); } } as const;`,
      [1],
    ],
    [
      "a type import",
      `import type { Readable } from "node:stream"; export default { name: "c", run(this: any, _event: Readable) { this.$emit([1]); } };`,
      [1],
    ],
    [
      "private fields and accessors",
      `class A { #n = 1; static s = 2; get n() { return this.#n; } static { A.s++; } } export default { name: "c", run() { this.$emit([new A().n, A.s]); } };`,
      [1, 3],
    ],
    [
      "using",
      `const log: number[] = []; { using _x = { [Symbol.dispose]() { log.push(1); } }; } export default { name: "c", run() { this.$emit(log); } };`,
      [1],
    ],
    [
      "a dynamic import of a built-in",
      `export default { name: "c", async run() { const { join } = await import("node:path"); this.$emit([join("a", "b")]); } };`,
      ["a/b"],
    ],
    [
      "require of a built-in",
      `const { join } = require("path"); module.exports = { name: "c", async run() { this.$emit([join("a", "b")]); } };`,
      ["a/b"],
    ],
  ])("understand TypeScript and today's JavaScript: %s", async (_, code, value) => {
    expect(await emits(code)).toEqual([value]);
  });
});

it("without a function 'run', events of its interfaces are emitted unchanged", async () => {
  const code = `const app = { type: "app", app: "x", propDefinitions: { when: { type: "$.interface.timer" } } };
    export default { name: "c", props: { app, when: { propDefinition: [app, "when"], default: { intervalSeconds: 60 } } } };`;
  expect(await emits(code, { event: `{"timestamp":1700000000,"interval_seconds":60}` })).toEqual([
    { timestamp: 1_700_000_000, interval_seconds: 60 },
  ]);
});

describe("this", () => {
  it("has props, methods that call methods, and $emit in methods and timers", async () => {
    const code = `export default { name: "c", props: { a: "string", b: { type: "integer", default: 2 }, c: { type: "string", optional: true } },
      methods: { one() { return this.two() + this.b; }, two() { return this.a; }, send(x) { this.$emit(x); }, async later() { await new Promise((ok) => setTimeout(ok, 1)); this.send("later"); } },
      async run() { this.send(this.one()); await this.later(); const { send } = this; send("unbound"); await new Promise((ok) => setTimeout(() => { this.$emit("timer"); ok(); }, 1)); this.$emit(typeof this.c); } };`;
    expect(await emits(code, { props: `{"a":"x"}` })).toEqual(["x2", "later", "unbound", "timer", "undefined"]);
  });

  it("has apps with their methods, credentials and prop definitions, nested and overridden", async () => {
    const app = `const base = { type: "app", app: "base", propDefinitions: { n: { type: "integer", label: "N", default: 1 } } };
      const app = { type: "app", app: "x", propDefinitions: { m: { propDefinition: [base, "n"], label: "M" } }, methods: { token() { return this.$auth.token; }, call() { return this.token() + this._base(); }, _base() { return "!"; } } };`;
    const code = `${app} export default { name: "c", props: { app, m: { propDefinition: [app, "m"], description: "d" }, k: { propDefinition: [app, "m", () => ({ a: 1 })], default: 5 } }, run() { this.$emit([this.app.call(), this.m, this.k, Object.keys(this.app)]); } };`;
    expect(await emits(code, { props: `{"app":{"$auth":{"token":"t"}}}` })).toEqual([["t!", 1, 5, ["token", "call", "_base"]]]);
    const { definition } = await opened.builder.build({ code });
    expect(definition.props).toMatchObject([
      { name: "app", type: "app", app: "x" },
      { name: "m", type: "integer", label: "M", description: "d" },
      { name: "k", default: 5 },
    ]);
  });

  it("has db props of any name, http props and timers, several of each", async () => {
    const code = `export default { name: "c", props: { store: "$.service.db", other: { type: "$.service.db" }, web: { type: "$.interface.http", customResponse: true }, hook: "$.interface.http", t1: { type: "$.interface.timer", default: { intervalSeconds: 60 } }, t2: "$.interface.timer" },
      run() { this.store.set("a", 1); this.other.set("a", 2); this.web.respond({ status: 201, body: "x" }); this.$emit([this.store.get("a"), this.other.get("a"), this.web.endpoint, this.hook.endpoint, this.t1, this.t2 ?? null]); } };`;
    const execution = await run(code, { endpoint: "https://x/", props: `{"t1":{"cron":"* * * * *"}}` });
    expect(emitted(execution)).toEqual([[1, 2, "https://x/", "https://x/", { cron: "* * * * *" }, null]]);
    expect(ended(execution)).toMatchObject({
      db: { store: { a: "1" }, other: { a: "2" } },
      response: { status: 201, body: "x" },
    });
  });

  it("has the values of additional props, which the component does not declare", async () => {
    const code = `export default { name: "c", props: { a: { type: "string", reloadProps: true } }, additionalProps() { return { extra: { type: "string" } }; }, run() { this.$emit([this.a, this.extra]); } };`;
    expect(await emits(code, { props: `{"a":"x","extra":"y"}` })).toEqual([["x", "y"]]);
    expect((await opened.builder.build({ code })).definition).toMatchObject({
      hasAdditionalProps: true,
      props: [{ name: "a", reloadProps: true }],
    });
  });

  it("is the same in hooks, which emit and call methods", async () => {
    const code = `export default { name: "c", props: { db: "$.service.db" }, methods: { send(x) { this.$emit(x); } }, hooks: { async deploy() { this.db.set("k", 1); this.send("deployed"); }, activate() {}, async deactivate() {} }, run() {} };`;
    const execution = await run(code, { entry: "deploy" });
    expect(emitted(execution)).toEqual(["deployed"]);
    expect(ended(execution).db).toEqual({ db: { k: "1" } });
    expect((await opened.builder.build({ code })).definition.hooks).toEqual(["deploy", "activate", "deactivate"]);
  });
});

describe("definitions", () => {
  it("keep known keys and tolerate unknown ones", async () => {
    const code = `export default { key: "k", version: "0.0.1", name: "c", type: "source", description: "d", dedupe: "unique", sampleEmit: { a: 1 }, annotations: { destructiveHint: false }, whatever: () => 1, props: { a: { type: "string[]", label: "A", options: ["x"], useQuery: true, withLabel: true, hidden: true, static: 1, secret: true }, alert: { type: "alert", alertType: "info", content: "c" } }, run() {} };`;
    expect((await opened.builder.build({ code })).definition).toMatchObject({
      key: "k",
      version: "0.0.1",
      dedupe: "unique",
      props: [
        { name: "a", type: "string[]", options: ["x"], useQuery: true, secret: true },
        { name: "alert", type: "alert", content: "c" },
      ],
    });
  });

  it("leave out fields of a wrong type, and refuse a prop named __proto__", async () => {
    const code = `export default { name: "c", props: { a: { type: "string", label: {}, options: 5, min: "x", optional: "yes" } }, run() {} };`;
    expect((await opened.builder.build({ code })).definition.props).toEqual([{ name: "a", type: "string", optional: true }]);
    await expect(
      opened.builder.build({
        code: `export default { name: "c", props: JSON.parse('{"__proto__":{"type":"string"}}'), run() {} };`,
      }),
    ).rejects.toThrow("__proto__");
  });
});
