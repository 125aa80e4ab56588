import { describe, expect, test } from "vitest";
import type { Inspector } from "../../../builder/ports.ts";
import type { Warning } from "../../../domain/component/warning.ts";
import { openBuilder } from "./support.ts";

/** Reads nothing of the code: returns a component with an HTTP interface, with or without a warning of the sandbox. */
const inspectorOf = (isCustom: boolean, warnings: readonly Warning[]): Inspector => ({
  inspect: async () => ({
    outcome: "read",
    definition: {
      name: "c",
      type: "source",
      props: [{ name: "hook", type: "$.interface.http", ...(isCustom ? { customResponse: true } : {}) }],
      hooks: [],
      hasAdditionalProps: false,
    },
    warnings,
  }),
});

const build = async (code: string, warnings: readonly Warning[] = []) => {
  const { builder } = await openBuilder({ inspector: inspectorOf(code.includes("customResponse: true"), warnings) });
  const first = await builder.build({ code });
  return { warnings: first.warnings, again: (await builder.build({ code })).warnings };
};
const withProps = (http: string, run: string): string =>
  `export default { name: "c", version: "1", props: { hook: ${http} }, async run(event) { ${run} } }`;

describe("the code of a component is warned about:", () => {
  test("respond() on a prop without customResponse", async () => {
    const { warnings } = await build(withProps(`{ type: "$.interface.http" }`, `this.hook.respond({ status: 200 });`));
    expect(warnings).toEqual([
      {
        code: "no_custom_response",
        message:
          "prop 'hook': this.hook.respond() has no effect: the caller is answered 200 at once unless the prop has customResponse: true",
        path: "props.hook.customResponse",
      },
    ]);
  });

  test.each([
    [`{ type: "$.interface.http", customResponse: true }`, `this.hook.respond({ status: 200 });`],
    [`{ type: "$.interface.http" }`, `/* this.hook.respond({ status: 200 }); */`],
    [`{ type: "$.interface.http" }`, `this.other.respond();`],
  ])("nothing with %s and %s", async (http, run) => {
    expect((await build(withProps(http, run))).warnings).toBeUndefined();
  });

  test.each([`this.$emit(event, { id: 1, name: "$errors" });`, `const emit = this.$emit; this.$emit({ a: ")" }, { name: '$mine' });`])(
    "an emit on a channel of the system: %s",
    async (run) => {
      expect((await build(withProps(`"$.interface.http"`, run))).warnings).toMatchObject([{ code: "reserved_channel", path: "run" }]);
    },
  );

  test.each([
    `this.$emit(event, { name: "mine" }); console.log({ name: "$errors" });`,
    `this.$emit({ nickname: "$x", names: ["$errors"] });`,
  ])("no channel of the system with %s", async (run) => {
    expect((await build(withProps(`"$.interface.http"`, run))).warnings).toBeUndefined();
  });
});

test("a build has the sandbox's warnings and those of the text, also when it is made from the cache", async () => {
  const given = { code: "version_missing", message: "version is missing", path: "version" };
  const { warnings, again } = await build(withProps(`{ type: "$.interface.http" }`, `this.hook.respond({ status: 200 });`), [given]);
  expect(warnings?.map(({ code }) => code)).toEqual(["version_missing", "no_custom_response"]);
  expect(again).toEqual(warnings);
});
