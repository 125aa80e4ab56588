import type { Definition } from "../command.ts";
import { traceLines } from "../output/trace-lines.ts";
import { emitterOf } from "../emitters.ts";

export const command: Definition = {
  description:
    "Shows what led to a run, an event or a delivery, and all that this caused, as a tree. An event is named by its webhook-id, or by its id with --of.",
  arguments: [{ name: "<id>", description: "a run r_…, the id of a delivery, a webhook-id, or an event as dc_….<event id>" }],
  options: [
    { flags: "--of <source>", description: "the source or workflow of the event" },
    { flags: "--below", description: "without what led to it" },
  ],
  examples: [
    { command: "hw trace r_0123456789ab", does: "Show all that belongs to a run." },
    { command: "hw trace 1795265888617-0 --of hello", does: "Show the trace of an event of a source." },
    { command: "hw trace r_0123456789ab -o json", does: "Print the spans as JSON." },
  ],
  operations: ["getTrace"],
  run: async ({ client, out, terminal }, given) => {
    const named = given.text("of");
    const id = named === undefined ? given.required("id") : `${(await emitterOf(client, named)).id}.${given.required("id")}`;
    const query = given.flag("below") ? { below: true } : {};
    const answer = await client.call("getTrace", { path: { id }, query });
    const { spans, focus_id: focus, cut } = answer.data;
    const isWide = out.format === "wide";
    await out.document(answer, () => traceLines(spans, focus, { width: terminal.columns, isWide }));
    const focused = spans.find((span) => span.id === focus);
    if (focused?.webhook_id !== undefined && focused.delivery_id !== undefined)
      out.note(`hw: \`hw webhooks delivery ${focused.delivery_id}\` shows what was sent and answered`);
    if (cut) out.note("some spans are missing, because there are too many: ask for those with a + with --below");
  },
};
