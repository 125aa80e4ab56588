import { describe, expect, it } from "vitest";
import { expressionProblems, findExpressions } from "../../../domain/workflow/expressions.ts";

const expressionsOf = (text: string): readonly string[] => [...findExpressions({ text })].map(({ source }) => source.trim());
const stepsOf = (source: string): readonly string[] => [...findExpressions({ text: `{{${source}}}` })].flatMap(({ steps }) => steps);
const messages = (value: unknown, earlier: readonly string[] = ["first", "second"]): readonly string[] =>
  expressionProblems("send", { value }, earlier).map(({ message }) => message);

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
});
