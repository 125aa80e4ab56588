import { expect, test } from "vitest";
import { mayReadVariables, stepVariables } from "../../../runner/workflow/step-variables.ts";
import { stepOf } from "../../integration/workflows/support.ts";

const values = { KEY: { value: "k", isSecret: true }, API_KEY: { value: "a", isSecret: false } };
const owned = { values, revision: "1" };
const expressionsOf = (text: string) => stepVariables(stepOf("p_a", "one", { props: { text } }), {}, owned);

test.each([
  ["{{ env.KEY }}", { KEY: "k" }],
  ["{{ process.env.API_KEY }}", { API_KEY: "a" }],
  ["{{ (({\nKEY }) => KEY)(env) }}", { KEY: "k" }],
  [`{{ env["KEY"] + env['API_KEY'] }}`, { KEY: "k", API_KEY: "a" }],
  ["env.KEY without an expression", {}],
])("expressions in %j get the variables that they name, and no others", (text, expressions) => {
  expect(expressionsOf(text)).toMatchObject({ expressions, environment: {}, revision: undefined });
});

test("secret props get the value of the variable that they name, or an error that names both", () => {
  const step = stepOf("p_a", "one");
  const secrets = { token: "{{ env.KEY }}", other: "as it is" };
  expect(mayReadVariables(step, secrets)).toBe(true);
  expect(stepVariables(step, secrets, owned)).toMatchObject({ secrets: { token: "k", other: "as it is" } });
  const missing = stepVariables(step, { token: "{{ env.GONE }}" }, owned);
  expect(missing).toEqual({
    error: { name: "Error", code: "expression_failed", message: expect.stringMatching(/'token'.*'GONE' is not set/) },
  });
});

test("code of the step gets all of them, and another context when they change", () => {
  const step = stepOf("p_a", "one", { readsVariables: true });
  expect(stepVariables(step, {}, owned)).toMatchObject({ environment: { KEY: "k", API_KEY: "a" }, masked: ["k"], revision: "1" });
  expect(stepVariables(step, {}, undefined)).toMatchObject({ environment: {}, revision: undefined });
});
