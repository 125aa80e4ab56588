import { defineAction } from "headwater/types";

export default defineAction({
  name: "Respond to HTTP",
  key: "headwater-respond",
  version: "1.0.0",
  type: "action",
  description: "Answers the HTTP request that triggered the workflow, with a status, headers and a body",
  annotations: { released: "2026-11-23" },
  props: {
    status: { type: "integer", label: "Status", description: "Status of the response", min: 200, max: 599, default: 200 },
    headers: { type: "object", label: "Headers", description: "Headers of the response, such as `Content-Type`", optional: true },
    body: { type: "any", label: "Body", description: "A string is sent as it is, any other value as JSON", optional: true },
    immediate: {
      type: "boolean",
      label: "Respond at Once",
      description: "Respond when this step runs, not when the run ends",
      default: false,
    },
  },
  async run({ $ }) {
    const { status, body, immediate } = this;
    const headers = Object.fromEntries(
      Object.entries(this.headers ?? {}).map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : String(value)]),
    );
    await $.respond({ status, headers, ...(body === undefined ? {} : { body }), immediate });
    $.export("$summary", `Responded with ${status}`);
  },
});
