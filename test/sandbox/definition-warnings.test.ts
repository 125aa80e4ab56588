import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Warning } from "../../domain/component/warning.ts";
import { type SandboxFixture, shareSandbox } from "./sandbox-fixture.ts";

/** What an inspection says of a component that loads and was probably meant otherwise. */
let fixture: SandboxFixture;
beforeAll(async () => {
  fixture = await shareSandbox();
});
afterAll(() => fixture.stop());

async function warningsOf(code: string): Promise<readonly Warning[]> {
  const inspection = await fixture.inspect(code);
  if (inspection.outcome !== "read") throw new Error(inspection.message);
  return inspection.warnings ?? [];
}
/** A component with these fields beside those that all have. */
const component = (fields: string): string => `export default { name: "c", version: "1", run() {}, ${fields} }`;
const prop = (fields: string): string => component(`props: { p: { ${fields} } }`);

describe("a definition", () => {
  it("without mistakes has no warnings", async () => {
    const code = `const app = { type: "app", app: "slack", methods: { m() {} }, anything: 1, propDefinitions: { channel: { type: "string", async options() { return []; } } } };
      export default { key: "k", name: "c", version: "0.0.1", type: "source", description: "d", dedupe: "unique", sampleEmit: {}, annotations: {}, additionalProps() {}, ownStuff: 1,
        props: { app, db: "$.service.db", http: { type: "$.interface.http", customResponse: true }, timer: { type: "$.interface.timer", default: { cron: "0 9 * * *", timezone: "Europe/Berlin" } },
          channel: { propDefinition: [app, "channel"], default: "general" }, kind: { type: "string", options: ["a", { label: "B", value: "b" }], default: "a" }, ids: { type: "string", options: [1, 2], default: 1 },
          tags: { type: "string[]", default: ["a"] }, size: { type: "integer", min: 1, max: 9, default: 2 }, sizes: { type: "integer[]", min: 1 }, token: { type: "string", secret: true }, any: { type: "any", default: null },
          picked: { type: "$.airtable.baseId", default: "x" }, on: { type: "boolean", default: false, optional: true }, none: undefined },
        hooks: { async deploy() {}, activate() {}, deactivate() {} }, methods: { m() {} }, run() {} }`;
    expect(await warningsOf(code)).toEqual([]);
  });

  it.each([
    [
      `export default { name: "c", run() {} }`,
      "version_missing",
      "version",
      'version is missing: write it as a string, such as version: "0.1.0"',
    ],
    [
      `export default { name: "c", version: 0.1, run() {} }`,
      "invalid_version",
      "version",
      'version 0.1 is a number and was ignored: write it as a string, such as version: "0.1.0"',
    ],
    [component(`key: 7`), "invalid_field", "key", "key is a number and was ignored: it must be a string"],
    [component(`dedup: "unique"`), "unknown_key", "dedup", "'dedup' is unknown and has no effect: did you mean dedupe?"],
    [component(`Props: {}`), "unknown_key", "Props", "'Props' is unknown and has no effect: did you mean props?"],
    [
      component(`hooks: { deply() {} }`),
      "unknown_hook",
      "hooks.deply",
      "hook 'deply' is unknown and is never called: did you mean deploy?",
    ],
    [
      component(`hooks: { onStart: 1 }`),
      "unknown_hook",
      "hooks.onStart",
      "hook 'onStart' is unknown and is never called: hooks are deploy, activate, deactivate",
    ],
    [
      component(`hooks: { deploy: "x" }`),
      "invalid_hook",
      "hooks.deploy",
      "hook 'deploy' is a string and is never called: it must be a function",
    ],
    [component(`hooks: [() => 1]`), "invalid_hooks", "hooks", "hooks is an array: it must be an object with deploy, activate, deactivate"],
    [
      `export default { name: "c", version: "1", run: "x", props: { http: "$.interface.http" } }`,
      "invalid_run",
      "run",
      "run is a string and is never called: it must be a function",
    ],
  ])("%s", async (code, code_, path, message) => {
    expect(await warningsOf(code)).toEqual([{ code: code_, message, path }]);
  });
});

describe("a prop that is null", () => {
  it("is ignored with a warning, and one that is undefined without", async () => {
    expect(await warningsOf(component(`props: { url: null, none: undefined, city: "string" }`))).toEqual([
      {
        code: "invalid_prop",
        message: `prop 'url' is null and was ignored: give it a type, such as url: "string", or remove it`,
        path: "props.url",
      },
    ]);
  });
});

describe("a prop", () => {
  it.each([
    [`type: "integer", default: "3"`, "invalid_default", "default", `prop 'p': default is invalid: "3" must be an integer`],
    [`type: "string", secret: true, default: 3`, "invalid_default", "default", "prop 'p': default is invalid: it must be a string"],
    [`type: "string[]", default: "a"`, "invalid_default", "default", `prop 'p': default is invalid: "a" must be an array (string[])`],
    [
      `type: "$.interface.timer", default: { interval: 60 }`,
      "invalid_default",
      "default",
      /^prop 'p': default: timer .* is invalid: it must be .*intervalSeconds/,
    ],
    [
      `type: "$.service.db", default: {}`,
      "no_effect",
      "default",
      "prop 'p': default has no effect: the system gives a $.service.db its value",
    ],
    [
      `type: "integer", default: () => 3`,
      "invalid_field",
      "default",
      "prop 'p': default is a function and was ignored: it must be a value",
    ],
    [
      `type: "string", options: { a: 1 }`,
      "invalid_options",
      "options",
      "prop 'p': options was ignored: it must be an array of values or of {label, value}, or a function",
    ],
    [
      `type: "string", options: ["a", { label: "b" }]`,
      "invalid_options",
      "options[1]",
      `prop 'p': options[1] is {"label":"b"}: options must be an array of values or of {label, value}, or a function`,
    ],
    [`type: "string", min: 3`, "no_effect", "min", "prop 'p': min has no effect: it bounds props of type integer, and this one is string"],
    [`type: "string", label: 5`, "invalid_field", "label", "prop 'p': label was ignored: it must be a string"],
    [`type: "integer", max: "9"`, "invalid_field", "max", "prop 'p': max was ignored: it must be a number"],
    [`type: "integer", min: 9, max: 1`, "invalid_bounds", "min", "prop 'p': min 9 is larger than max 1, so that no value fits"],
    [`type: "integer", secret: true`, "no_effect", "secret", "prop 'p': secret is meant for props of type string, and this one is integer"],
    [
      `type: "string", optional: "false"`,
      "invalid_field",
      "optional",
      "prop 'p': optional counts as true: it must be true or false, without quotes",
    ],
    [
      `type: "string", optinal: true`,
      "unknown_field",
      "optinal",
      "prop 'p': 'optinal' is unknown and has no effect: did you mean optional?",
    ],
    [
      `type: "string", customResponse: true`,
      "no_effect",
      "customResponse",
      "prop 'p': customResponse means something only on a prop of type $.interface.http",
    ],
  ])("with %s", async (fields, code, field, message) => {
    const [found, ...others] = await warningsOf(prop(fields));
    expect(others).toEqual([]);
    expect([found?.code, found?.path]).toEqual([code, `props.p.${field}`]);
    if (typeof message === "string") expect(found?.message).toBe(message);
    else expect(found?.message).toMatch(message);
  });

  it.each(["run", "$emit", "then", "constructor"])("named %s has a reserved name", async (name) => {
    expect(await warningsOf(component(`props: { ${name}: "string" }`))).toMatchObject([{ code: "reserved_name", path: `props.${name}` }]);
  });

  it("and a method must not share a name", async () => {
    expect(await warningsOf(component(`props: { city: "string" }, methods: { city() {} }`))).toEqual([
      {
        code: "prop_and_method",
        message: "prop 'city': a method has the same name, so this.city is the method and never the value",
        path: "props.city",
      },
    ]);
  });
});

describe("warnings", () => {
  it("are at most fifty short texts, whatever a component contains", async () => {
    const code = component(
      `props: Object.fromEntries(Array.from({ length: 400 }, (_, i) => ["p".repeat(1000) + i, { type: "string", min: 1 }]))`,
    );
    const warnings = await warningsOf(code);
    expect([warnings.length, JSON.stringify(warnings).length < 50_000]).toEqual([50, true]);
  });

  it("are omitted when the definition is too large for them, and the component loads", async () => {
    const code = component(`dedup: 1, description: "d".repeat(1_000_000)`);
    expect(await warningsOf(code)).toEqual([]);
  });
});

describe("an app prop", () => {
  it("without a slug is warned about", async () => {
    expect(await warningsOf(prop(`type: "app"`))).toEqual([
      {
        code: "app_missing",
        message: `prop 'p': app is missing: write the slug of the app, such as app: "github", since accounts are kept by it`,
        path: "props.p.app",
      },
    ]);
    expect(await warningsOf(prop(`type: "app", app: "github"`))).toEqual([]);
  });
});

describe("the kind of a definition", () => {
  const kindOf = async (code: string) => {
    const inspection = await fixture.inspect(code);
    if (inspection.outcome !== "read") throw new Error(inspection.message);
    const { takesStep, takesEvent } = inspection.definition;
    return { takesStep, takesEvent };
  };

  it.each([
    [`export default { async run({ steps, $ }) { return steps.trigger.event; } }`, { takesStep: true }],
    [`export default { name: "c", run({ $ }) { $.export("a", 1); } }`, { takesStep: true }],
    [`export default { name: "c", run(event) { this.$emit(event.body); } }`, { takesEvent: true }],
    [`export default { name: "c", type: "action", run(event) { return event.body; } }`, { takesEvent: true }],
    [`export default { name: "c", type: "action", run({ body }) { return body; } }`, { takesEvent: true }],
    [`export default { name: "c", type: "action", run(given) { return given.steps.trigger; } }`, {}],
    [`export default { name: "c", type: "action", run({ steps }) { return steps; } }`, {}],
    [`export default { name: "c", type: "action", run() { return 1; } }`, {}],
    [`export default { name: "c", type: "source", run(event) { this.$emit(event.body); } }`, {}],
  ])("of %s is %j", async (code, kind) => {
    expect(await kindOf(code)).toEqual(kind);
  });
});
