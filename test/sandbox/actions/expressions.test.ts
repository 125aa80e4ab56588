import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findExpressions } from "../../../domain/workflow/expressions.ts";
import { isSandboxGlobal } from "../../../domain/workflow/sandbox-globals.ts";
import { compileTemplate } from "../../../runner/sandbox/guest/action/template.ts";
import { errorOf, type SandboxFixture, shareSandbox } from "../sandbox-fixture.ts";
import { actionOf, returned, runAction, type StepRun } from "./action-support.ts";

let fixture: SandboxFixture;
beforeAll(async () => {
  fixture = await shareSandbox();
});
afterAll(() => fixture.stop());

const steps = { trigger: { event: { name: "Ada", tags: ["x", "y"], at: 5, none: null } }, first: { $return_value: { id: 7 } } };
const code = `export default { name: "a", type: "action", props: { value: { type: "any" } }, async run() { return this.value; } }`;
const run = (value: unknown, more: StepRun = {}): ReturnType<typeof runAction> =>
  runAction(fixture, code, { steps, props: { value }, ...more });
const valueOf = async (value: unknown): Promise<unknown> => returned(await run(value));

describe("expressions in props", () => {
  it.each([
    ["{{ steps.trigger.event }}", steps.trigger.event],
    ["{{steps.first.$return_value.id}}", 7],
    [" {{ steps.trigger.event.tags }}\n", ["x", "y"]],
    ["{{ steps.trigger.event.none }}", null],
    ["{{ steps.trigger.event.tags.map((tag) => tag.toUpperCase()) }}", ["X", "Y"]],
    ["{{ {a: {b: steps.trigger.event.at}} }}", { a: { b: 5 } }],
    ["{{ steps.none?.x ?? 'nothing' }}", "nothing"],
    ["{{ JSON.stringify({ a: Math.max(1, 2) }) }}", `{"a":2}`],
  ])("the text %j has the value of its expression", async (text, value) => {
    expect(await valueOf(text)).toEqual(value);
  });

  it.each([
    ["Hello {{ steps.trigger.event.name }}!", "Hello Ada!"],
    ["{{ steps.trigger.event.name }}{{ steps.trigger.event.at }}", "Ada5"],
    ["tags: {{ steps.trigger.event.tags }}", `tags: ["x","y"]`],
    ["[{{ steps.trigger.event.none }}{{ undefined }}]", "[]"],
    ["at {{ new Date(0) }}", "at 1970-01-01T00:00:00.000Z"],
    [`{{ "}}" }} and {{ "{{" }}`, "}} and {{"],
    ["an open {{ brace", "an open {{ brace"],
  ])("the text %j has the values inserted: %j", async (text, value) => {
    expect(await valueOf(text)).toBe(value);
  });

  it.each([
    ["{{ env.REGION }}", "eu"],
    ["{{ process.env.REGION }}/{{ env['REGION'] }}", "eu/eu"],
    ["{{ env.NONE ?? 'a default' }}", "a default"],
    ["{{ typeof env.NONE }}", "undefined"],
    ["{{ Object.keys(env).join() }}", "REGION"],
    ["{{ env.toString }}?", undefined],
  ])("the text %j reads variables", async (text, value) => {
    const execution = await run(text, { action: { variables: JSON.stringify({ REGION: "eu" }) } });
    if (value === undefined) expect(errorOf(execution).message).toContain("the variable 'toString' is not set: hw variables set toString");
    else expect(returned(execution)).toEqual(value);
  });

  it.each(["{{ env.API_URL }}", "https://{{ process.env.API_URL }}/x", "{{ env.API_URL.length }}"])(
    "%j fails with the name of the variable if it is not set",
    async (text) => {
      const error = errorOf(await run(text));
      expect([error.code, error.message]).toEqual([
        "expression_failed",
        expect.stringContaining("the variable 'API_URL' is not set: hw variables set API_URL"),
      ]);
    },
  );

  it("cannot change variables", async () => {
    const execution = await run("{{ (() => { env.REGION = 'us'; })() }}", { action: { variables: `{"REGION":"eu"}` } });
    expect(errorOf(execution).code).toBe("expression_failed");
  });

  it("are evaluated at any depth, and nothing else is changed", async () => {
    const value = { list: ["{{ steps.trigger.event.at }}", 1, { text: "a{{ 1 + 1 }}" }], plain: { x: "y" }, flag: true };
    expect(await valueOf(value)).toEqual({ list: [5, 1, { text: "a2" }], plain: { x: "y" }, flag: true });
  });

  it("are shown as inputs of the step, those of other props are not", async () => {
    const execution = await run("{{ steps.trigger.event.name }}", { props: { value: "{{ 1 }}", other: { a: "{{ 'b' }}" }, plain: "x" } });
    expect(actionOf(execution).inputs).toBe(`{"value":1,"other":{"a":"b"}}`);
    expect(actionOf(await run("plain")).inputs).toBeNull();
    expect(actionOf(await run(`{{ "x".repeat(70_000) }}`)).inputs).toBeNull();
    expect(actionOf(await run(`{{ Object.assign(a = {}, { a }) }}`.replace("a = {}", "globalThis.a = {}"))).inputs).toBeNull();
  });

  it("are evaluated before accounts, requests and queries are made of the props", async () => {
    const http = `export default { name: "a", props: { request: { type: "http_request" }, sql: { type: "sql" } }, async run() { return [this.request.url, this.sql.query]; } }`;
    const props = { request: { url: "https://e/{{ steps.trigger.event.at }}" }, sql: "select {{ steps.trigger.event.at }}" };
    expect(returned(await runAction(fixture, http, { steps, props }))).toEqual(["https://e/5", "select 5"]);
  });

  it("in secret props and accounts are text, and never shown", async () => {
    const secret = `const app = { type: "app", app: "x", methods: {} };
      export default { name: "a", props: { app, token: { type: "string", secret: true }, key: { type: "string" } }, async run() { return [this.app.$auth.k, this.token, this.key]; } }`;
    const props = { app: { $auth: { k: "{{ 1 }}" } }, token: "{{ 2 }}", key: "{{ 3 }}" };
    const execution = await runAction(fixture, secret, { props, action: { secretProps: ["key"] } });
    expect(returned(execution)).toEqual(["{{ 1 }}", "{{ 2 }}", "{{ 3 }}"]);
    expect(actionOf(execution).inputs).toBeNull();
  });

  it("are evaluated once: an event cannot bring expressions of its own", async () => {
    const event = { steps: { trigger: { event: { name: "{{ globalThis.hacked = 1 }}" } } } };
    expect(returned(await run("{{ steps.trigger.event.name }}", event))).toBe("{{ globalThis.hacked = 1 }}");
    expect(returned(await run("x {{ steps.trigger.event.name }}", event))).toBe("x {{ globalThis.hacked = 1 }}");
  });

  it("are found alike by the isolate and by the check before a workflow is deployed", () => {
    const parts = ["{{", "}}", "{", "}", " a ", "steps.x", '"', "`", "${", "1", " + ", "//", "\n", "(", ")", "[", "]", ":", ",", "/"];
    const text = fc.array(fc.constantFrom(...parts), { maxLength: 30 }).map((all) => `{{${all.join("")}`);
    fc.assert(
      fc.property(text, (each) => {
        const template = compileTemplate(each);
        const found = [...findExpressions({ each })];
        const problem = found.find((one) => one.problem !== undefined);
        if ("problem" in template) return problem?.source === template.source;
        return (
          problem === undefined && template.expressions.map(({ source }) => source).join() === found.map(({ source }) => source).join()
        );
      }),
      { numRuns: 5_000, examples: [["{{ a )(}}"], ["{{[])(//}}"], ["{{//}}\nsteps.x//}}"], ["{{ 1 // }} }}\n}}"]] },
    );
  });

  it.each([
    ["{{ steps.none.x }}", "TypeError: Cannot read properties of undefined"],
    ["{{ name }}", "ReferenceError: name is not defined"],
    ["{{ a b }}", "SyntaxError"],
    ["{{ }}", "SyntaxError"],
    ["{{ a)(1 }}", "SyntaxError"],
    ["{{ 1); (2 }}", "SyntaxError"],
    ["{{ (() => { throw new RangeError('far') })() }}", "RangeError: far"],
    ["{{ () => 1 }}", "its value is a function, which JSON cannot hold"],
    ["{{ 10n }}", "its value is a bigint"],
    ["{{ Promise.resolve(1) }}", "its value is a promise: expressions cannot wait"],
    ["a {{ steps.none.x }}", "TypeError"],
    ["{{ steps.trigger = 1, undeclared = 2 }}", "undeclared is not defined"],
  ])("%s fails the step with an error that names the prop and the expression", async (text, problem) => {
    const { outcome, code: found, message } = errorOf(await run({ deep: [text] }));
    expect({ outcome, code: found }).toEqual({ outcome: "threw", code: "expression_failed" });
    expect(message).toContain("prop 'value.deep[0]': the expression {{");
    expect(message).toContain(problem);
  });
});

describe("the value of an expression", () => {
  const typed = (prop: string, value: unknown): ReturnType<typeof runAction> =>
    runAction(
      fixture,
      `export default { name: "a", type: "action", props: { value: ${prop} }, async run() { return this.value ?? "absent"; } }`,
      {
        steps,
        props: { value },
      },
    );

  it.each([
    [`"integer"`, "{{ steps.trigger.event.name }}", `"Ada" (string): it must be an integer`],
    [
      `{ type: "integer", min: 1, max: 3 }`,
      "{{ steps.trigger.event.at }}",
      "5 (number): it must be an integer of at least 1 and at most 3",
    ],
    [`"string"`, "{{ steps.trigger.event.tags }}", `["x","y"] (array): it must be a string`],
    [`"string"`, "{{ steps.trigger.event.at }}", "5 (number): it must be a string"],
    [`"boolean"`, "{{ 'yes' }}", `"yes" (string): it must be true or false`],
    [`"file"`, "{{ steps.trigger.event.at }}", "5 (number): it must be a path below /tmp"],
    [`"file"`, "{{ 'ftp://example.com/a' }}", `"ftp://example.com/a" (string): it must be a path below /tmp`],
    [`"file[]"`, ["{{ '/tmp/../x' }}"], `["/tmp/../x"] (array): it must be an array (file[]) in which each element is a path below /tmp`],
    [`"object"`, "{{ [] }}", "[] (array): it must be an object"],
    [`"string[]"`, "{{ steps.trigger.event.name }}", `"Ada" (string): it must be an array (string[])`],
    [`"integer[]"`, ["{{ 1 }}", "{{ 'x' }}"], `[1,"x"] (array): it must be an array (integer[]) in which each element is an integer`],
    [`"string"`, "{{ steps.trigger.event.none }}", "null (null): it must be a string, since the prop is not optional"],
  ])("of a prop %s fails the step if it does not fit: %s", async (prop, value, problem) => {
    const { outcome, code: found, message } = errorOf(await typed(prop, value));
    expect({ outcome, code: found }).toEqual({ outcome: "threw", code: "expression_failed" });
    expect(message).toContain("prop 'value': ");
    expect(message).toContain(` gives ${problem}`);
  });

  it.each([
    [`"integer"`, "{{ steps.trigger.event.at }}", 5],
    [`"string"`, "number {{ steps.trigger.event.at }}", "number 5"],
    [`{ type: "string", options: [5] }`, "{{ 5 }}", 5],
    [`{ type: "string", optional: true }`, "{{ steps.trigger.event.none }}", "absent"],
    [`"any"`, "{{ [1] }}", [1]],
    [`"object"`, { deep: "{{ 1 }}" }, { deep: 1 }],
    [`"string[]"`, "{{ steps.trigger.event.tags }}", ["x", "y"]],
    [`{ type: "string", withLabel: true }`, "{{ ({ label: 'a', value: 'b' }) }}", { label: "a", value: "b" }],
  ])("of a prop %s is passed if it fits: %s", async (prop, value, expected) => {
    expect(returned(await typed(prop, value))).toEqual(expected);
  });
});

it("has the globals of the isolate among those that the check before a deployment knows", async () => {
  const names = (await valueOf("{{ Object.getOwnPropertyNames(globalThis) }}")) as readonly string[];
  expect(names.filter((name) => !isSandboxGlobal(name))).toEqual([]);
});

describe("hostile expressions", () => {
  it("that loop meet the time limit of the run", async () => {
    expect(errorOf(await run("{{ (() => { for (;;); })() }}", { request: { limits: { timeoutMs: 300 } } }))).toMatchObject({
      outcome: "limited",
      code: "run_timeout",
    });
  });

  it("that fill the memory meet its limit", async () => {
    const text = "{{ (() => { const all = []; for (;;) all.push(new Array(100_000).fill(1)); })() }}";
    expect(errorOf(await run(text, { request: { limits: { memoryMb: 64 } } }))).toMatchObject({
      outcome: "limited",
      code: "memory_limit",
    });
  });

  it("that make a huge text fail by the limit of what a step returns, or pass", async () => {
    expect(errorOf(await run(`{{ "x".repeat(50_000_000) }}`))).toMatchObject({ outcome: "threw", code: "result_too_large" });
    expect(errorOf(await run(`{{ "x".repeat(2 ** 30) }}`))).toMatchObject({ outcome: "threw", code: "expression_failed" });
  });

  it("that change prototypes or intrinsics change them for their own context alone", async () => {
    await run(`{{ Object.prototype.polluted = Array.prototype.map = JSON.stringify = 1 }}`, { request: { source: "p_1/c_1/0" } });
    expect(await valueOf("{{ [Object.prototype.polluted, typeof JSON.stringify, [1].map((x) => x + 1)] }}")).toEqual([
      null,
      "function",
      [2],
    ]);
  });

  it("do not reach the runtime, the host or the props", async () => {
    const names = [
      "require",
      "process.mainModule",
      "__register",
      "__bind",
      "__shared",
      "module",
      "exports",
      "props",
      "secret",
      "post",
      "definition",
    ];
    expect(await valueOf(`{{ [${names.map((name) => `typeof ${name}`).join(", ")}] }}`)).toEqual(
      names.map((name) => (name === "__register" ? "function" : "undefined")),
    );
    expect(errorOf(await run("{{ this.props }}"))).toMatchObject({ code: "expression_failed" });
  });

  it("with keys such as __proto__ set own properties", async () => {
    const props = `{"value":{"__proto__":{"polluted":"{{ 1 }}"},"a":"{{ 2 }}"}}`;
    const probe = `export default { name: "a", run() { return [Object.keys(this.value), {}.polluted === undefined, this.value.polluted === undefined]; } }`;
    expect(returned(await runAction(fixture, probe, { request: { props } }))).toEqual([["__proto__", "a"], true, true]);
  });
});
