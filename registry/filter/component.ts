import { defineSource } from "headwater/types";
import { parseCondition } from "./condition.ts";
import { fill } from "./template.ts";

export default defineSource({
  name: "Filter and Transform",
  key: "headwater-filter",
  version: "1.0.0",
  type: "source",
  description: "Hears the events of other sources, emits those that meet conditions, and gives them another shape",
  annotations: { released: "2026-11-21" },
  props: {
    conditions: {
      type: "string[]",
      label: "Conditions",
      description:
        "One each, such as `order.total >= 100`, `status = paid`, `tags contains new`, `title matches ^Re:`, `user.email exists`. Without any, all events pass.",
      optional: true,
    },
    match: {
      type: "string",
      label: "How Many Must Hold",
      description: "Of the conditions",
      options: [
        { label: "All of them", value: "all" },
        { label: "Any of them", value: "any" },
        { label: "None of them", value: "none" },
      ],
      default: "all",
    },
    template: {
      type: "object",
      label: "Template",
      description:
        'What is emitted, with `{{path}}` for parts of the event: `{"id": "{{order.id}}", "text": "{{user.name}} paid"}`. Without one, the event as it is.',
      optional: true,
    },
    summary: { type: "string", label: "Summary", description: "One line for people, with `{{path}}`", optional: true },
    channel: {
      type: "string",
      label: "Channel",
      description: "On which it is emitted, with `{{path}}`; the default one without",
      optional: true,
    },
  },
  methods: {
    passes(event: unknown): boolean {
      const conditions = (this.conditions ?? []).map(parseCondition);
      if (conditions.length === 0) return true;
      if (this.match === "none") return !conditions.some((holds) => holds(event));
      return this.match === "any" ? conditions.some((holds) => holds(event)) : conditions.every((holds) => holds(event));
    },
    text(template: string | undefined, event: unknown): string | undefined {
      if (template === undefined) return undefined;
      const filled = fill(template, event) ?? "";
      return typeof filled === "string" ? filled : JSON.stringify(filled);
    },
  },
  hooks: {
    // Mistakes in conditions fail the deployment instead of going to the log.
    activate() {
      this.passes({});
    },
  },
  run(event) {
    if (!this.passes(event)) return;
    const output = this.template === undefined ? event : fill(this.template, event);
    this.$emit(output, { summary: this.text(this.summary, event), name: this.text(this.channel, event) });
  },
});
