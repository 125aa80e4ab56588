import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configureLimits, type ConfigureCall, type Configured } from "../../domain/component/configure.ts";
import { parseConfigured } from "../../runner/run/configure.ts";
import { patientMs, requestFor, type SandboxFixture, type SandboxRequest, startSandbox } from "./sandbox-fixture.ts";

/** Calls of a component while a user configures it, each in a real isolate, checked as the runner checks them. */
let fixture: SandboxFixture;
beforeAll(async () => {
  fixture = await startSandbox();
});
afterAll(() => fixture.stop());

let calls = 0;

async function configure(code: string, call: ConfigureCall, props: object = {}, request: SandboxRequest = {}): Promise<Configured> {
  calls += 1;
  const execution = await fixture.sandbox.execute(
    requestFor(await fixture.bundle(code), {
      source: `r_${calls}`,
      entry: "configure",
      event: JSON.stringify(call),
      props: JSON.stringify(props),
      ...request,
    }),
  );
  return parseConfigured(call, execution);
}

const ask = (prop: string, more: Partial<Extract<ConfigureCall, { kind: "options" }>> = {}): ConfigureCall => ({
  kind: "options",
  prop,
  page: 0,
  ...more,
});
const reload: ConfigureCall = { kind: "props" };

async function optionsOf(code: string, prop: string, props: object = {}, more: Parameters<typeof ask>[1] = {}): Promise<unknown> {
  const configured = await configure(code, ask(prop, more), props);
  return configured.outcome === "options" ? configured.options : configured;
}

async function propsOf(code: string, props: object = {}, call: ConfigureCall = reload): Promise<unknown> {
  const configured = await configure(code, call, props);
  return configured.outcome === "props" ? configured.props : configured;
}

/** The message of a call that fails. */
async function failure(code: string, call: ConfigureCall = ask("x"), props: object = {}, request: SandboxRequest = {}) {
  const configured = await configure(code, call, props, request);
  return configured.outcome === "failed" ? [configured.error.code, configured.error.message] : configured;
}

const withOptions = (options: string, more = ""): string =>
  `export default { name: "c", props: { a: { type: "string", default: "one" }, x: { type: "string", ${options} } }, ${more} run() {} }`;

describe("options of a prop", () => {
  it("see the component: values, defaults, methods", async () => {
    const code = withOptions(
      `async options({ page }) { return [this.a, this.b, this.twice(page)]; }`,
      `methods: { twice(n) { return n * 2; } },`,
    );
    expect(await optionsOf(code, "x", { b: "two" }, { page: 3 })).toEqual(["one", "two", 6]);
  });

  it("see the app that defines them, with its account, when they come from a propDefinition", async () => {
    const code = `const app = { type: "app", app: "github", methods: { token() { return this.$auth.key; } },
        propDefinitions: { repo: { type: "string", async options({ page, prevContext, query, org }) { return [this.token(), page, typeof prevContext, query, org]; } } } };
      export default { name: "c", props: { github: app, org: "string", repo: { propDefinition: [app, "repo", (c) => ({ org: c.org })] } }, run() {} }`;
    const props = { github: { $auth: { key: "k" } }, org: "acme" };
    expect(await optionsOf(code, "repo", props, { page: 1, query: "he" })).toEqual(["k", 1, "object", "he", "acme"]);
  });

  it("find the app under any name, spread into a prop of the component's own, or without an account", async () => {
    const app = `const app = { type: "app", app: "github", propDefinitions: { repo: { type: "string", options() { return [this.$auth.key ?? "none"]; } } } };`;
    const using = (prop: string): string =>
      `${app} export default { name: "c", props: { ${prop} repo: { propDefinition: [app, "repo"] } }, run() {} }`;
    const props = { git: { $auth: { key: "k" } } };
    expect(await optionsOf(using("git: { ...app, label: 'Git' },"), "repo", props)).toEqual(["k"]);
    expect(await optionsOf(using(""), "repo", props)).toEqual(["none"]);
  });

  it("receive the arguments of every reference, the nearest one's first; local options are the component's", async () => {
    const code = `const base = { type: "app", app: "base", propDefinitions: { n: { type: "string", options(args) { return [JSON.stringify(args), this.name()]; } } }, methods: { name: () => "base" } };
      const app = { type: "app", app: "app", propDefinitions: { n: { propDefinition: [base, "n", (c) => ({ a: 1, b: 1, seen: c.z })] } } };
      export default { name: "c", props: { z: "string", n: { propDefinition: [app, "n", async () => ({ b: 2 })] },
        own: { propDefinition: [app, "n", { fixed: true }], options(args) { return [JSON.stringify(args), this.z]; } } }, run() {} }`;
    expect(await optionsOf(code, "n", { z: "Z" })).toEqual([JSON.stringify({ page: 0, prevContext: {}, a: 1, b: 2, seen: "Z" }), "base"]);
    expect(await optionsOf(code, "own", { z: "Z" })).toMatchObject([expect.stringContaining(`"fixed":true`), "Z"]);
  });

  it("are paged by a context of any JSON type", async () => {
    const code = withOptions(
      `options({ prevContext }) { const { cursor = 0 } = prevContext; return { options: [{ label: "L" + cursor, value: cursor }], context: { cursor: cursor + 1 } }; }`,
    );
    expect(await configure(code, ask("x"))).toEqual({
      outcome: "options",
      options: [{ label: "L0", value: 0 }],
      context: { cursor: 1 },
      truncated: false,
    });
    expect(await optionsOf(code, "x", {}, { prevContext: { cursor: 7 } })).toEqual([{ label: "L7", value: 7 }]);
  });

  it.each([
    ["an array of values", `options: () => ["a", 1, true]`, ["a", 1, true]],
    ["static options", `options: ["a", { label: "B", value: "b" }]`, ["a", { label: "B", value: "b" }]],
    ["nothing", `options: () => undefined`, []],
    ["an object without options", `options: () => ({ context: 1 })`, []],
    ["null among them", `options: () => ["a", null, undefined, "b"]`, ["a", "b"]],
    ["values that are objects", `options: () => [{ label: "A", value: { id: 1 } }]`, [{ label: "A", value: { id: 1 } }]],
    ["fields of all kinds", `options: () => [{ label: "A", value: "a", f() {}, n: undefined }]`, [{ label: "A", value: "a" }]],
  ])("may be %s", async (_, options, expected) => {
    expect(await optionsOf(withOptions(options), "x")).toEqual(expected);
  });

  it.each([
    ["a text", `options: () => "a"`, "options of prop 'x' returned a string: it must return an array, or {options, context} with one"],
    [
      "an option without a value",
      `options: () => ["a", { label: "B" }]`,
      `option 1 of prop 'x' is {"label":"B"}: an option is a string, a number, a boolean or {label, value}`,
    ],
    [
      "a cycle",
      `options: () => { const o = { value: 1 }; o.o = o; return [o]; }`,
      "option 0 of prop 'x' is nothing that JSON can hold: an option is a string, a number, a boolean or {label, value}",
    ],
    [
      "a huge context",
      `options: () => ({ options: [], context: "x".repeat(100_000) })`,
      "the context that options of prop 'x' returned must be JSON of at most 65536 characters",
    ],
  ])("are an error in words: %s", async (_, options, message) => {
    expect(await failure(withOptions(options))).toEqual(["invalid_options", message]);
  });

  it("fail with the component's own error", async () => {
    expect(await failure(withOptions(`async options() { throw new TypeError("no such board"); }`))).toEqual([undefined, "no such board"]);
    expect(await configure(withOptions(`async options() { throw new TypeError("no"); }`), ask("x"))).toMatchObject({
      error: { name: "TypeError", stack: expect.stringContaining("component.js") },
    });
  });

  it.each([
    [withOptions(""), ask("x"), "prop 'x' has no options"],
    [withOptions(""), ask("constructor"), "the component has no prop 'constructor'"],
    [withOptions("", `additionalProps() { return { y: "string" }; },`), ask("y"), "prop 'y' has no options"],
  ])("are missing where there are none", async (code, call, message) => {
    expect(await failure(code, call)).toEqual(["no_options", message]);
  });

  it("are cut at the limit of options", async () => {
    const many = await configure(withOptions(`options: () => Array.from({ length: 20_000 }, (_, i) => i)`), ask("x"));
    expect(many).toMatchObject({ truncated: true });
    expect(many.outcome === "options" && many.options).toHaveLength(configureLimits.options);
    const long = await configure(withOptions(`options: () => Array.from({ length: 100 }, () => "x".repeat(10_000))`), ask("x"));
    expect(long.outcome === "options" && long.truncated && JSON.stringify(long.options).length <= configureLimits.optionsCharacters).toBe(
      true,
    );
  });
});

describe("additional props", () => {
  it("depend on values, and replace or extend the component's own", async () => {
    const code = `export default { name: "c", props: { kind: { type: "string", options: ["timer", "http"], reloadProps: true }, note: { type: "string", label: "Note" } },
      async additionalProps() { await null; return this.kind === "timer" ? { timer: { type: "$.interface.timer", default: { intervalSeconds: 60 } }, note: { type: "integer" } } : { web: "$.interface.http", db: "$.service.db" }; }, run() {} }`;
    const kind = { name: "kind", type: "string", options: ["timer", "http"], reloadProps: true };
    expect(await propsOf(code, { kind: "timer" })).toEqual([
      kind,
      { name: "note", type: "integer" },
      { name: "timer", type: "$.interface.timer", default: { intervalSeconds: 60 } },
    ]);
    expect(await propsOf(code, { kind: "http" })).toEqual([
      kind,
      { name: "note", type: "string", label: "Note" },
      { name: "web", type: "$.interface.http" },
      { name: "db", type: "$.service.db" },
    ]);
  });

  it("may change their arguments, extend them, or return them", async () => {
    const code = (body: string): string =>
      `export default { name: "c", props: { a: { type: "string", hidden: true }, b: { type: "string", async options() { return []; } } }, async additionalProps(props) { ${body} }, run() {} }`;
    const b = { name: "b", type: "string", remoteOptions: true };
    expect(await propsOf(code(`props.a.hidden = false; props.b.options = ["x"]; return {};`))).toEqual([
      { name: "a", type: "string", hidden: false },
      { name: "b", type: "string", options: ["x"] },
    ]);
    expect(await propsOf(code(`return { a: { ...props.a, optional: true } };`))).toEqual([
      { name: "a", type: "string", hidden: true, optional: true },
      b,
    ]);
    expect(await propsOf(code(`return props;`))).toEqual([{ name: "a", type: "string", hidden: true }, b]);
    expect(await propsOf(code(`return;`))).toEqual([{ name: "a", type: "string", hidden: true }, b]);
  });

  it("receive the previous additional props", async () => {
    const code = `export default { name: "c", props: { a: "string" }, additionalProps(props) { return { saw: { type: "string", label: Object.keys(props).sort().join() } }; }, run() {} }`;
    const previous = [{ name: "old", type: "string" }];
    expect(await propsOf(code, {}, { kind: "props", previous })).toEqual([
      { name: "a", type: "string" },
      { name: "saw", type: "string", label: "a,old" },
    ]);
  });

  it("may come from apps, and have options of their own that see the component", async () => {
    const code = `const app = { type: "app", app: "x", propDefinitions: { board: { type: "string", label: "Board", async options({ team }) { return [this.$auth.key + team]; } } } };
      export default { name: "c", props: { app, gid: { type: "string" } }, methods: { one() { return 1; } },
        additionalProps(props) { return { board: { propDefinition: [app, "board", (c) => ({ team: c.team })] }, gid: { ...props.gid, options: () => [this.one()] } }; }, run() {} }`;
    expect(await propsOf(code)).toMatchObject([
      { name: "app", type: "app" },
      { name: "gid", remoteOptions: true },
      { name: "board", label: "Board", remoteOptions: true },
    ]);
    expect(await optionsOf(code, "gid")).toEqual([1]);
    expect(await optionsOf(code, "board", { app: { $auth: { key: "k" } }, team: "T" })).toEqual(["kT"]);
  });

  it.each([
    ["return a text", `return "x";`, ["invalid_props", "additionalProps returned a string: it must return an object of props by name"]],
    [
      "return a list",
      `return [{ name: "x", type: "string" }];`,
      ["invalid_props", "additionalProps returned an array: it must return an object of props by name"],
    ],
    ["throw", `throw new Error("the API says no");`, [undefined, "the API says no"]],
    [
      "have an unknown type",
      `return { y: "strnig" };`,
      ["unknown_prop_type", expect.stringMatching(/^additionalProps: prop 'y' has the unknown type "strnig"; known are /)],
    ],
    [
      "are too many",
      `return Object.fromEntries(Array.from({ length: 600 }, (_, i) => ["p" + i, "string"]));`,
      ["invalid_props", "the component has 602 props with those of additionalProps: the limit is 500"],
    ],
    [
      "are too large",
      `return { y: { type: "string", description: "x".repeat(400_000) } };`,
      ["invalid_props", expect.stringContaining("more than 262144 characters")],
    ],
  ])("that %s are an error in words", async (_, body, expected) => {
    const code = `export default { name: "c", props: { a: "string", x: "string" }, additionalProps() { ${body} }, run() {} }`;
    expect(await failure(code, reload)).toEqual(expected);
  });

  it("of a component without any are its own props", async () => {
    expect(await propsOf(withOptions(""))).toEqual([
      { name: "a", type: "string", default: "one" },
      { name: "x", type: "string" },
    ]);
  });
});

describe("a call", () => {
  it("leaves no state, no events and no response to other requests", async () => {
    const code = withOptions(
      `options() { globalThis.n = (globalThis.n ?? 0) + 1; this.$emit(1); this.db.set("n", 1); return [globalThis.n, this.db.get("other") ?? "none"]; }`,
      "",
    ).replace("props: {", `props: { db: "$.service.db", `);
    expect(await optionsOf(code, "x")).toEqual([1, "none"]);
    expect(await optionsOf(code, "x")).toEqual([1, "none"]);
    await expect.poll(() => fixture.sandbox.stats().isolates).toBe(0);
  });

  it.each([
    ["computes forever", `options() { for (;;); }`, "configure_timeout"],
    ["waits forever", `async options() { await new Promise((ok) => setTimeout(ok, 60_000)); }`, "configure_timeout"],
    ["waits for nothing", `async options() { await new Promise(() => {}); }`, "run_stalled"],
  ])("that %s is ended", async (_, options, code) => {
    const [ended] = (await failure(
      withOptions(options),
      ask("x"),
      {},
      { limits: { timeoutMs: code === "configure_timeout" ? 500 : patientMs } },
    )) as string[];
    expect(ended).toBe(code);
  });

  it("that takes all memory is ended, and the next one is answered", async () => {
    const hoard = withOptions(`options() { const all = []; for (;;) all.push(new Array(1e5).fill({})); }`);
    const [ended] = (await failure(hoard, ask("x"), {}, { limits: { memoryMb: 32 } })) as string[];
    expect(["memory_limit", "runner_crash", "configure_timeout"]).toContain(ended);
    expect(await optionsOf(withOptions(`options: () => [1]`), "x")).toEqual([1]);
  });

  it("is validated: messages that our runtime never sends are refused", async () => {
    const forged = (text: string): string =>
      withOptions(`options() { const { stringify } = JSON; Array.prototype.join = () => ${JSON.stringify(text)}; return ["a"]; }`);
    const outcomes = [];
    for (const text of [
      `{"value":1},{"label":"B"}`,
      `null`,
      `"a"],"context":${"[".repeat(2_000)}${"]".repeat(2_000)},"x":["`,
      `"a"], nonsense`,
    ])
      outcomes.push(((await failure(forged(text))) as string[])[0]);
    expect(outcomes).toEqual(["invalid_options", "invalid_options", "invalid_options", "invalid_options"]);
  });
});
