import { describe, expect, it } from "vitest";
import type { ComponentDefinition } from "../../../domain/component/definition.ts";
import { warningsAsAction, warningsAsSource, warningsOfKind } from "../../../domain/component/kind-warnings.ts";

const definition = (fields: Partial<ComponentDefinition>, ...types: readonly string[]): ComponentDefinition => ({
  name: "a",
  type: "source",
  hooks: [],
  hasAdditionalProps: false,
  props: types.map((type, index) => ({ name: `p${index}`, type })),
  ...fields,
});
const paths = (warnings: readonly { readonly code: string; readonly path: string }[]) =>
  warnings.map(({ code, path }) => `${code} ${path}`);

describe("warnings about the kind of a component", () => {
  it("name code and props of actions in a source", () => {
    const source = definition({ hasNoType: true, takesStep: true }, "any", "object[]", "any[]", "object", "$.service.db", "string");
    expect(paths(warningsAsSource(source))).toEqual([
      "wrong_kind run",
      "wrong_kind props.p0.type",
      "wrong_kind props.p1.type",
      "wrong_kind props.p2.type",
    ]);
    expect(warningsOfKind(source)).toEqual([]);
  });

  it("name code and props of sources in an action", () => {
    const action = definition(
      { type: "action", takesEvent: true },
      "$.service.db",
      "$.interface.http",
      "$.interface.timer",
      "any",
      "string",
    );
    const expected = ["wrong_kind run", "wrong_kind props.p0.type", "wrong_kind props.p1.type", "wrong_kind props.p2.type"];
    expect(paths(warningsAsAction(action))).toEqual(expected);
    expect(paths(warningsOfKind(action))).toEqual(expected);
  });
});
