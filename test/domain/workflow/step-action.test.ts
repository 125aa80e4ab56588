import { expect, test } from "vitest";
import type { ComponentDefinition } from "../../../domain/component/definition.ts";
import { whyNotAction } from "../../../domain/workflow/step-action.ts";

const definition: ComponentDefinition = { name: "Fetch", type: "action", props: [], hooks: [], hasAdditionalProps: false };

test("A component is either a source or an action, and an action runs as a step in a workflow", () => {
  expect(whyNotAction(definition)).toBeUndefined();
  expect(whyNotAction({ ...definition, type: "source" })).toBe(
    `component 'Fetch' is a source: a step runs an action, a component with type: "action" and run({ steps, $ })`,
  );
});

test("code without a type is a step unless it has something that only sources have", () => {
  const untyped = { ...definition, type: "source", hasNoType: true } as const;
  expect(whyNotAction(untyped)).toBeUndefined();
  expect(whyNotAction({ ...untyped, hooks: ["deploy"] })).toMatch(/is a source:/);
  expect(whyNotAction({ ...untyped, dedupe: "unique" })).toMatch(/is a source:/);
  expect(whyNotAction({ ...untyped, props: [{ name: "timer", type: "$.interface.timer" }] })).toMatch(
    /is a source, with the prop 'timer' of type \$\.interface\.timer:/,
  );
});
