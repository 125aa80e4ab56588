import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ComponentDefinition } from "../../domain/component/definition.ts";
import { receivedCode } from "../../domain/error-codes.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { configurablePropsResponse } from "../../domain/component/prop-responses.ts";
import { checkConfiguredProps, runtimeProps } from "../../domain/component/prop-values.ts";
import { rows, type Row } from "./prop-rows.ts";
import { emitted, requestFor, type SandboxFixture, shareSandbox } from "./sandbox-fixture.ts";

/**
 * Every type and field that a prop may have: what is shown of it, which values it takes, and what `this` has. Method: a component with
 * the prop is inspected; the values are checked and laid out as for a deployment; a run emits what it finds on `this`.
 */
let fixture: SandboxFixture;
beforeAll(async () => {
  fixture = await shareSandbox();
});
afterAll(() => fixture.stop());

const app = `const app = { type: "app", app: "x", propDefinitions: { p: { type: "string", label: "P", options() { return []; } }, q: { propDefinition: [other, "n"], description: "D" } }, methods: { who() { return this.me() + this.$auth.key; }, me() { return this.app; } } };`;
const prelude = `const other = { type: "app", app: "y", propDefinitions: { n: { type: "integer", label: "N", min: 1 } } }; ${app}`;
const code = (prop: string, value: string): string =>
  `${prelude} export default { name: "c", props: { p: ${prop} }, async run() { this.$emit([await (${value})]); } };`;

async function definitionOf(text: string): Promise<ComponentDefinition> {
  const inspection = await fixture.inspect(text);
  if (inspection.outcome === "rejected") throw new InvalidInput(inspection.message, { code: receivedCode(inspection.code) });
  return inspection.definition;
}

const system = { endpoint: "https://in.test/e" };

describe.each(rows.map((row): [string, Row] => [row.prop.slice(0, 90), row]))("a prop %s", (_, row) => {
  it("is shown, takes its value, and is on this", async () => {
    const text = code(row.prop, row.value ?? "this.p");
    const definition = await definitionOf(text);
    expect(configurablePropsResponse(definition)).toEqual([{ name: "p", ...row.shown }]);
    const given = row.given === undefined ? {} : { p: row.given };
    const { values } = checkConfiguredProps(definition, given);
    const props = JSON.stringify({ ...runtimeProps(definition, values), ...(definition.props[0]?.type === "app" ? given : {}) });
    const execution = await fixture.sandbox.execute(
      requestFor(await fixture.bundle(text), { source: `dc_${text.length}_${Math.random()}`, props, ...system }),
    );
    expect(emitted(execution)).toEqual([[row.has]]);
    if (row.refused === undefined) return;
    const [value, words] = row.refused;
    expect(() => checkConfiguredProps(definition, value === undefined ? {} : { p: value })).toThrow(words);
  });
});

describe("a field that is not a prop", () => {
  it.each([
    [`"strnig"`, /^prop 'p' has the unknown type "strnig"; known are /],
    [`{ type: "$.service.queue" }`, /^prop 'p' has the unknown type "\$\.service\.queue"/],
    [`{ label: "no type" }`, /^prop 'p' has no type/],
    [`{ type: 5 }`, /^prop 'p' has the unknown type 5/],
    [`{ propDefinition: [app, "nowhere"] }`, /^prop 'p' refers to the propDefinition 'nowhere', which its app does not have/],
    [`{ propDefinition: [app, "constructor"] }`, /^prop 'p' refers to the propDefinition 'constructor'/],
  ])("%s is refused by name and type", async (prop, message) => {
    await expect(definitionOf(code(prop, "1"))).rejects.toThrow(message);
  });

  it("is ignored when undefined, as left by a spread that removes it", async () => {
    const text = `const common = { db: "$.service.db", a: "string" }; export default { name: "c", props: { ...common, db: undefined, b: null }, run() {} };`;
    expect((await definitionOf(text)).props).toEqual([{ name: "a", type: "string" }]);
  });
});
