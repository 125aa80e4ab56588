import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Inspection } from "../../runner/sandbox/port.ts";
import { writeBundle } from "./component.ts";
import { patientMs, type SandboxFixture, shareSandbox } from "./sandbox-fixture.ts";

let fixture: SandboxFixture;
beforeAll(async () => {
  fixture = await shareSandbox();
});
afterAll(() => fixture.stop());

const inspect = (code: string, timeoutMs?: number): Promise<Inspection> => fixture.inspect(code, timeoutMs);
/** Of a definition that computes without end. */
const shortMs = 300;

async function definitionOf(code: string): Promise<unknown> {
  const inspection = await inspect(code);
  return inspection.outcome === "read" ? inspection.definition : inspection;
}

describe("inspection reads", () => {
  it("a whole definition", async () => {
    const code = `export default { key: "k", name: "New item", version: "0.0.1", type: "source", description: "d", dedupe: "unique", sampleEmit: {}, annotations: { a: 1 },
      props: { db: "$.service.db", every: { type: "$.interface.timer", default: { intervalSeconds: 60 } }, tags: { type: "string[]", optional: true, async options() { return []; } }, kind: { type: "string", options: ["a", { label: "B", value: "b" }], reloadProps: true, secret: true } },
      hooks: { async deploy() {}, activate() {}, other() {} }, additionalProps() { return {}; }, methods: { m() {} }, run() {} }`;
    expect(await definitionOf(code)).toEqual({
      key: "k",
      name: "New item",
      version: "0.0.1",
      type: "source",
      description: "d",
      dedupe: "unique",
      hooks: ["deploy", "activate"],
      hasAdditionalProps: true,
      props: [
        { name: "db", type: "$.service.db" },
        { name: "every", type: "$.interface.timer", default: { intervalSeconds: 60 } },
        { name: "tags", type: "string[]", optional: true, remoteOptions: true },
        { name: "kind", type: "string", options: ["a", { label: "B", value: "b" }], reloadProps: true, secret: true },
      ],
    });
  });

  it("prop definitions of apps, resolved", async () => {
    const code = `const app = { type: "app", app: "slack", methods: { m() {} }, propDefinitions: { channel: { type: "string", label: "Channel", options: () => [] } } };
      export default { name: "c", props: { app, channel: { propDefinition: [app, "channel", (c) => ({ x: c.y })], label: "Own" } }, run() {} }`;
    expect(await definitionOf(code)).toMatchObject({
      type: "source",
      props: [
        { name: "app", type: "app", app: "slack" },
        { name: "channel", type: "string", label: "Own", remoteOptions: true },
      ],
    });
    expect(JSON.stringify(await definitionOf(code))).not.toMatch(/propDefinition|methods/);
  });

  it("an action: 'Both follow the same component definition format'", async () => {
    const code = `const app = { type: "app", app: "x", propDefinitions: { id: { type: "any", label: "Id", async options() { return []; } } } };
      export default { name: "Do it", key: "x-do-it", version: "0.0.1", type: "action", annotations: { destructiveHint: false },
      props: { app, id: { propDefinition: [app, "id"] }, list: { type: "any[]" }, later: { type: "string", async options({ page }) { return []; }, reloadProps: true } },
      async additionalProps() { return {}; }, methods: { m() {} }, async run({ steps, $ }) {} }`;
    expect(await definitionOf(code)).toMatchObject({
      type: "action",
      hasAdditionalProps: true,
      props: [
        { name: "app", type: "app", app: "x" },
        { name: "id", type: "any", label: "Id", remoteOptions: true },
        { name: "list", type: "any[]" },
        { name: "later", type: "string", remoteOptions: true, reloadProps: true },
      ],
    });
  });

  it.each([
    "export default defineComponent({ async run({ steps, $ }) { return 1; } })",
    "export default { async run({ $, steps }) {} }",
    "export default { run: async function ({ steps }) {} }",
    "export default { run: async ({ $ }) => 1 }",
    "export default { props: { a: { type: 'string' } }, async run({\n  steps, // of the workflow\n  $,\n}) {} }",
  ])("code of a step without name and type: %s", async (code) => {
    expect(await definitionOf(code)).toMatchObject({ name: "Code step", hasNoType: true });
  });

  it.each(["export default { run(event) {} }", "export default { async run({ body }) {} }", "export default { run({ stepsize, $x }) {} }"])(
    "no name of a source: %s",
    async (code) => {
      expect(await definitionOf(code)).toMatchObject({ code: "no_name" });
    },
  );

  it.each([
    ["run() {}", undefined],
    ["run(event) { this.$emit(event); }", true],
    ["run: async ({ body }) => body", true],
    ["run: (event) => event.x", true],
    ["run: async event => event.x", true],
    ["run(event = {}) { return event.x; }", undefined],
    ["run(event) { return event?.x; }", undefined],
    ["run($event) { if (!$event) return; return $event.x; }", undefined],
    ["run: event => event && event.x", undefined],
    ["run(event, metadata) { return event.x ?? metadata?.y; }", true],
  ])("whether a run needs an event: %s", async (run, needsEvent) => {
    expect(await definitionOf(`export default { name: "c", ${run} }`)).toEqual(
      expect.objectContaining({ name: "c", ...(needsEvent === undefined ? {} : { needsEvent }) }),
    );
    expect(JSON.stringify(await definitionOf(`export default { name: "c", ${run} }`)).includes("needsEvent")).toBe(needsEvent === true);
  });

  it("actions", async () => {
    expect(await definitionOf(`export default { name: "a", type: "action", run({ $ }) {} }`)).toMatchObject({
      type: "action",
    });
  });
});

describe("inspection rejects", () => {
  it.each([
    ["a component without run", `export default { name: "c" }`, { code: "no_run" }],
    [
      "an action without run",
      `export default { name: "c", type: "action", props: { http: "$.interface.http" } }`,
      { code: "no_run", message: "the action has no function 'run'" },
    ],
    ["one without a name", `export default { run() {} }`, { code: "no_name" }],
    [
      "one whose name is a number",
      `export default { name: 5, run() {} }`,
      { code: "no_name", message: `the component's name is 5; it must be a string, such as name: "New orders"` },
    ],
    ["one of a name that fills pages", `export default { name: "n".repeat(9e5), run() {} }`, { code: "no_name" }],
    ["a name that says something else", `export default { name: { toJSON: () => "n".repeat(9e5) }, run() {} }`, { code: "no_name" }],
    ["one that is no object", `export default 5`, { code: "no_component" }],
    ["a module without an export", `const a = 1;`, { code: "no_run" }],
    ["an unknown type", `export default { name: "c", type: "app", run() {} }`, { code: "unknown_type" }],
    [
      "an unknown prop type",
      `export default { name: "c", props: { p: { type: "strng" } }, run() {} }`,
      { code: "unknown_prop_type", prop: "p", message: expect.stringMatching(/'p'.*"strng"/) as string },
    ],
    ["a prop without a type", `export default { name: "c", props: { p: {} }, run() {} }`, { code: "unknown_prop_type", prop: "p" }],
    [
      "a missing propDefinition",
      `const app = { type: "app" }; export default { name: "c", props: { p: { propDefinition: [app, "nope"] } }, run() {} }`,
      { code: "unknown_prop_definition", prop: "p" },
    ],
    [
      "an unknown dedupe",
      `export default { name: "c", dedupe: "uniq", run() {} }`,
      { code: "invalid_dedupe", message: expect.stringContaining("unique, greatest, last") as string },
    ],
    [
      "a module that throws",
      `const x = undefined;\nx.y();\nexport default {}`,
      {
        code: "evaluation_error",
        message: expect.stringContaining("TypeError") as string,
        line: expect.any(Number) as number,
        column: expect.any(Number) as number,
      },
    ],
    [
      "a module that rejects later",
      `await new Promise((r) => setTimeout(r, 5)); throw new RangeError("late"); export default {}`,
      { code: "evaluation_error", message: "RangeError: late" },
    ],
    [
      "an await of nothing",
      `await new Promise(() => {}); export default { name: "c", run() {} }`,
      { code: "evaluation_timeout", message: expect.stringContaining("never ends") as string },
    ],
    [
      "an await without end",
      `for (;;) await new Promise((r) => setTimeout(r, 10)); export default {}`,
      { code: "evaluation_timeout" },
      shortMs,
    ],
    ["an endless loop", `for (;;); export default {}`, { code: "evaluation_timeout" }, shortMs],
    [
      "getters that throw",
      `export default { get name() { throw new Error("mine"); }, run() {} }`,
      { code: "evaluation_error", message: "Error: mine" },
    ],
    ["getters that loop", `export default { get name() { for (;;); }, run() {} }`, { code: "evaluation_timeout" }, shortMs],
    [
      "a definition as large as memory",
      `export default { name: "c", run() {}, props: { p: { type: "string", default: "x".repeat(2 ** 21) } } }`,
      { code: "evaluation_error" },
    ],
  ])("%s", async (_, code, expected, timeoutMs?: number) => {
    expect(await inspect(code, timeoutMs)).toMatchObject({ outcome: "rejected", ...expected });
  });

  it.each([
    ["its type", `type: "t".repeat(9e5)`, "unknown_type"],
    ["its dedupe", `dedupe: "t".repeat(9e5)`, "invalid_dedupe"],
    ["a prop's type", `props: { ["p".repeat(1e5)]: { type: "t".repeat(8e5) } }`, "unknown_prop_type"],
    ["a prop's definition", `props: { p: { propDefinition: [{ type: "app", app: "a" }, "t".repeat(9e5)] } }`, "unknown_prop_definition"],
  ])("what fills pages, in a few words: %s", async (_, field, code) => {
    const rejected = await inspect(`export default { name: "c", run() {}, ${field} }`);
    expect(rejected).toMatchObject({ outcome: "rejected", code });
    expect(rejected.outcome === "rejected" && rejected.message.length).toBeLessThan(1_000);
  });

  it.each([
    ["a component that is a proxy of keys without end", `new Proxy({ name: "c", run() {} }, { ownKeys() { for (;;); } })`],
    ["props of a proxy", `{ name: "c", run() {}, props: new Proxy({}, { ownKeys() { for (;;); } }) }`],
    ["a million props", `{ name: "c", run() {}, props: Object.fromEntries(Array.from({ length: 1e6 }, (_, i) => ["p" + i, "string"])) }`],
    [
      "a definition that refers to itself",
      `(() => { const a = { type: "app", propDefinitions: {} }; a.propDefinitions.p = { propDefinition: [a, "p"] }; return { name: "c", run() {}, props: { p: { propDefinition: [a, "p"] } } }; })()`,
    ],
    [
      "a default of five thousand levels",
      `{ name: "c", run() {}, props: { p: { type: "string", default: JSON.parse("[".repeat(5e3) + "]".repeat(5e3)) } } }`,
    ],
    ["JSON that is a function", `(JSON.stringify = () => JSON.parse, { name: "c", run() {} })`],
    ["JSON that is a million brackets", `(JSON.stringify = () => "[".repeat(1e6), { name: "c", run() {} })`],
    ["a registration of its own that throws without end", `(__register(null, { get message() { for (;;); } }), { name: "c", run() {} })`],
  ])("or reads, and goes on after: %s", async (_, component) => {
    await inspect(`export default ${component}`, shortMs);
    expect(await inspect(`export default { name: "after", run() {} }`)).toMatchObject({ outcome: "read", definition: { name: "after" } });
  });

  it("a bundle that does not parse, with line and column", async () => {
    const bundle = await writeBundle(fixture.directory, `(async()=>{"use strict";\n  const = 5;\n})()`);
    expect(await fixture.sandbox.inspect({ bundle, timeoutMs: patientMs })).toMatchObject({
      outcome: "rejected",
      code: "evaluation_error",
      line: 2,
      column: expect.any(Number) as number,
    });
  });

  it("a missing bundle", async () => {
    const bundle = { hash: "x", path: `${fixture.directory}/none.js`, needsNode: false };
    expect(await fixture.sandbox.inspect({ bundle, timeoutMs: patientMs })).toMatchObject({
      outcome: "rejected",
      code: "sandbox_error",
    });
  });
});
