import { defineAction } from "headwater/types";

export default defineAction({
  name: "Transform",
  key: "headwater-transform",
  version: "1.0.0",
  type: "action",
  description: "Returns a value that is built from expressions, to give the data of earlier steps another shape",
  annotations: { released: "2026-11-23" },
  props: {
    value: {
      type: "any",
      label: "Value",
      description:
        'Any JSON value with expressions: `{"id": "{{steps.trigger.event.order.id}}", "text": "{{steps.trigger.event.name}} paid"}`',
    },
  },
  run({ $ }) {
    $.export("$summary", `Returned ${kindOf(this.value)}`);
    // An expression that finds nothing is undefined, which JSON has no form for.
    return this.value ?? null;
  },
});

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return `an object with ${Object.keys(value).join(", ").slice(0, 80) || "no fields"}`;
  return JSON.stringify(value ?? null).slice(0, 80);
}
