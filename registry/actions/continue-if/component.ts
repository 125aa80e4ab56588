import { defineAction } from "headwater/types";
import { parseCondition } from "../../filter/condition.ts";

export default defineAction({
  name: "Filter: Continue If",
  key: "headwater-continue-if",
  version: "1.0.0",
  type: "action",
  description: "Ends the workflow run unless a value meets conditions, so that later steps see only matching events",
  annotations: { released: "2026-11-23" },
  props: {
    value: {
      type: "any",
      label: "Value",
      description: "What the conditions test, such as `{{steps.trigger.event}}`. Without conditions, the run continues if it is true",
    },
    conditions: {
      type: "string[]",
      label: "Conditions",
      description:
        "Each has a path in the value, a test, and what to compare with: `order.total >= 100`, `status = paid`, `tags contains new`, `title matches ^Re:`, `user.email exists`",
      optional: true,
    },
    match: {
      type: "string",
      label: "Match",
      description: "How many of the conditions must be met",
      options: [
        { label: "All of them", value: "all" },
        { label: "Any of them", value: "any" },
        { label: "None of them", value: "none" },
      ],
      default: "all",
    },
    reason: { type: "string", label: "Reason", description: "Shown as the reason of a run that ends here", optional: true },
  },
  methods: {
    passes(): boolean {
      const conditions = (this.conditions ?? []).map(parseCondition);
      if (conditions.length === 0) return Boolean(this.value);
      const met = conditions.filter((isMet) => isMet(this.value)).length;
      if (this.match === "none") return met === 0;
      return this.match === "any" ? met > 0 : met === conditions.length;
    },
  },
  run({ $ }) {
    const passes = this.passes();
    const reason = this.reason ?? "The value does not meet the conditions";
    $.export("$summary", passes ? "The run continues" : reason);
    return passes ? true : $.flow.exit(reason);
  },
});
