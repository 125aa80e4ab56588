import { describe, expect, it } from "vitest";
import { ExpressionBudget, expressionProblems, expressionWarnings, findExpressions } from "../../../domain/workflow/expressions.ts";
import { cpuMsOf } from "../../support/cpu-time.ts";

const expressionsOf = (text: string): readonly string[] => [...findExpressions({ text })].map(({ source }) => source.trim());
const stepsOf = (source: string): readonly string[] => [...findExpressions({ text: `{{${source}}}` })].flatMap(({ steps }) => steps);
const messages = (value: unknown, earlier: readonly string[] = ["first", "second"]): readonly string[] =>
  expressionProblems("send", { value }, earlier).map(({ message }) => message);

const warnings = (value: unknown, earlier: readonly string[] = ["first"]) => expressionWarnings("send", { value }, earlier);
let unique = 0;
/** A text that was not read before, since texts that were read are kept. */
const newText = (text: string): string => `${unique++} ${text}`;

describe("expressions in props", () => {
  it.each([
    ["no expression", []],
    ["{{ a }} and {{ b }}", ["a", "b"]],
    ["{{ {a: {b: 1}} }}", ["{a: {b: 1}}"]],
    ["{{{a:{b:1}}}}", ["{a:{b:1}}"]],
    [`{{ "}}" }}`, [`"}}"`]],
    ["{{ `a${ {b: {}} }}}` }}!", ["`a${ {b: {}} }}}`"]],
    ["{{ x // comment }} end", ["x // comment"]],
    ["an open {{ steps.a", []],
    ["}} {{ a }}", ["a"]],
  ])("finds in %j: %j", (text, sources) => {
    expect(expressionsOf(text)).toEqual(sources);
  });

  it("finds them at any depth, with their path", () => {
    const props = { a: { list: [1, { text: "{{ x }}" }] }, "b c": "{{ y }}" };
    expect([...findExpressions(props)].map(({ path }) => path)).toEqual(["a.list[1].text", "b c"]);
  });

  it.each([
    ["steps.first.name", ["first"]],
    ["steps['first'] + steps[\"second\"]", ["first", "second"]],
    ["steps?.first?.name", ["first"]],
    ["`${steps.first} ${'steps.second'}` // steps.third", ["first"]],
    ["[1].map((x) => steps.first[x])", ["first"]],
    ["[{}].map((steps) => steps.own)", []],
    ["steps[name]", []],
    ["other.steps.first", []],
    ["/steps.first/.test('')", []],
  ])("%s reads the steps %j", (source, names) => {
    expect(stepsOf(source)).toEqual(names);
  });

  it("have no problem if they read the trigger and earlier steps", () => {
    expect(messages("{{ steps.trigger.event.body.id }} {{ steps.first.$return_value }}")).toEqual([]);
  });

  it("name the step, the prop, the wrong name and the nearest right one", () => {
    expect(expressionProblems("send", { headers: [{ value: "Bearer {{ steps.frist.token }}" }] }, ["first", "second"])).toEqual([
      {
        path: "headers[0].value",
        message:
          "step 'send', prop 'headers[0].value': {{ steps.frist.token }} reads steps.frist, and no step of this name runs before it: did you mean first?",
      },
    ]);
    expect(messages("{{ steps.zzzzzzz }}")[0]).toContain("runs before it: it can read trigger, first, second");
  });

  it.each([
    "{{ }}",
    "{{ a b }}",
    "{{ steps. }}",
    "{{#each items}}x{{/each}}",
    "{{ 1); (2 }}",
    "{{ if (x) y }}",
    "{{ const a = 1 }}",
    "{{ await x }}",
  ])("refuse %s, which is no JavaScript expression", (text) => {
    expect(messages(text)[0]).toMatch(/^step 'send', prop 'value': \{\{.*\}\} is no JavaScript expression: /);
  });

  it("are read in bounded time, whatever they contain", () => {
    const started = performance.now();
    expect(messages(`{{ ${"(".repeat(10_000)} }}`)).toHaveLength(1);
    expect(messages(`{{ steps.first${".a".repeat(8_000)} }}`)).toEqual([]);
    expect(messages(`{{ "${"}}".repeat(500_000)}`)).toHaveLength(1);
    expect(messages(`{{ ${"x".repeat(20_000)} }}`)[0]).toContain("more than 16384 characters");
    expect(messages(Array.from({ length: 10_000 }, () => "{{ steps.none }}"))).toHaveLength(20);
    let deep: unknown = "{{ steps.none }}";
    for (let level = 0; level < 5_000; level++) deep = [deep];
    expect(messages(deep)).toEqual([]);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it.each([
    ["many ends", (size: number) => `{{ ${"}} ".repeat(size / 3)}`],
    ["many open braces", (size: number) => `{{ ${"{".repeat(size / 2)}${"}".repeat(size / 2)} }}`],
    ["comments with ends", (size: number) => `{{ a ${"// }} \n".repeat(size / 7)} + }}`],
    ["regular expressions with large classes", (size: number) => `{{ /[${String.raw`\p{L}`.repeat(size / 5)}]/u }}`],
    [
      "many declarations",
      (size: number) => `{{ (() => { let ${Array.from({ length: size / 8 }, (_, index) => `a${index}`).join()} })() }}`,
    ],
    ["nested blocks", (size: number) => `{{ (() => { ${"{".repeat(90)}${"a;".repeat(size / 2)}${"}".repeat(90)} })() }}`],
    ["many arguments", (size: number) => `{{ f(${"a(1), ".repeat(size / 6)}2) }}`],
  ])("take time in proportion to their length: %s", (_, textOf) => {
    const read = (size: number): number => cpuMsOf(() => void [...findExpressions({ a: newText(textOf(size)) })], 5);
    read(14_000); // Compiles the parser.
    // Four times the length: a quadratic reader would take 16 times as long.
    expect(read(14_000)).toBeLessThan(10 * read(3_500) + 5);
  });

  it("of one document are read up to a limit, whatever the number of steps and texts", () => {
    const budget = new ExpressionBudget();
    const text = (): string => newText(`{{ ${"a + ".repeat(250)}1 }}`);
    const found = [...findExpressions({ list: Array.from({ length: 1_000 }, text) }, budget)];
    expect(found.length).toBeLessThan(ExpressionBudget.maxCharacters / 1_000);
    expect(expressionProblems("next", { value: text() }, [], budget)).toEqual([
      {
        path: "",
        message: "step 'next': the expressions of the workflow have more than 131072 characters together, the limit: move code into steps",
      },
    ]);
    const tiny = Array.from({ length: 1_000_000 }, () => "{{}}");
    expect([...findExpressions({ tiny }, new ExpressionBudget())].length).toBeLessThan(10_000);
  });

  it("are parsed once: a document that is checked again takes a fraction of the time", () => {
    const texts = Array.from({ length: 100 }, () => newText(`{{ f(${"a(1), ".repeat(150)}2) }}`));
    const check = (): number => expressionProblems("send", { texts }, []).length;
    const first = cpuMsOf(check, 1);
    expect(cpuMsOf(check)).toBeLessThan(first / 3);
  });
});

describe("warnings about expressions", () => {
  it("name variables that are not defined, and what they may be meant to be", () => {
    expect(warnings({ text: "{{ nope.x }}" })).toEqual([
      {
        code: "unknown_name",
        message:
          "step 'send', prop 'value.text': {{ nope.x }} reads nope, which is not defined: expressions read exports of earlier steps as steps.<name>, and the event as steps.trigger.event",
        path: "steps.send.props.value.text",
      },
    ]);
    expect(warnings("{{ first.name }}")[0]?.message).toContain("did you mean steps.first?");
    expect(warnings("{{ event.body }}")[0]?.message).toContain("the event of the trigger is steps.trigger.event");
    expect(warnings("{{ step.first }}")[0]?.message).toContain("did you mean steps?");
  });

  it.each([
    "{{ steps.first.a + Math.max(1, 2) + JSON.stringify({ nope: 1 }) }}",
    "{{ [1].map((item, index) => item + index) }}",
    "{{ (({ a, b: [c] }, ...rest) => a + c + rest)({}) }}",
    "{{ (() => { let x = 1; const { y } = {}; try { x(y) } catch (error) { return error } })() }}",
    "{{ (function inner() { return inner.name + arguments.length })() }}",
    "{{ typeof nope === 'undefined' ? 1 : 2 }}",
    "{{ ({ nope: 1, nope() {} }).nope }}",
    "{{ new URL('https://e').href + Buffer.from('a') }}",
    "{{ (() => { outer: for (;;) break outer })() }}",
    "plain { text }",
  ])("are not given for %s", (text) => {
    expect(warnings(text)).toEqual([]);
  });

  it("name braces that are not closed", () => {
    expect(warnings("a {{ 1 }} {{ steps.first.a } b")).toEqual([
      {
        code: "unclosed_expression",
        message: `step 'send', prop 'value': {{ steps.first.a } b has no }} behind it and stays text; close it, or write {{ "{{" }} for braces`,
        path: "steps.send.props.value",
      },
    ]);
  });

  it("are at most twenty, and end with the budget", () => {
    expect(warnings(Array.from({ length: 1_000 }, (_, index) => `{{ a${index} }}`))).toHaveLength(20);
  });
});
