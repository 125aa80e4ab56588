import type { LogLine } from "../../client/generated/operations.ts";
import type { Definition } from "../command.ts";
import { emitterOf } from "../emitters.ts";
import { followLines } from "../follow-lines.ts";
import { refuseZero } from "../listing.ts";
import { logLines } from "../output/events.ts";

const defaultLines = 100;

export const command: Definition = {
  description: "Shows what the code of a source or workflow logged, its hooks and its errors, the newest last.",
  arguments: [{ name: "<source>", description: "a source or workflow", completes: "source" }],
  options: [
    {
      flags: "-n, --limit <count>",
      description: `number of past lines; by default ${defaultLines}, which is all that is kept`,
      value: "count",
    },
    { flags: "-f, --follow", description: "keep running, and print new lines" },
  ],
  examples: [
    { command: "hw logs hello", does: "Show the last lines of the log." },
    { command: "hw logs hello -f", does: "Show each line as it is written.", isInert: true },
  ],
  operations: ["listLogs", "listWorkflowLogs", "streamLogs", "streamWorkflowLogs"],
  run: async (context, given) => {
    const { client, out } = context;
    const { id, isWorkflow } = await emitterOf(client, given.required("source"));
    const workflow = { path: { workflow_id: id } };
    if (given.flag("follow")) {
      return followLines(
        context,
        (options) =>
          isWorkflow ? client.follow("streamWorkflowLogs", workflow, options) : client.follow("streamLogs", { path: { id } }, options),
        ({ data }) => ({ value: JSON.parse(data) as unknown, lines: (value) => logLines(lineOf(value)) }),
      );
    }
    refuseZero(given);
    const answer = isWorkflow ? await client.call("listWorkflowLogs", workflow) : await client.call("listLogs", { path: { id } });
    const shown = { ...answer, data: answer.data.slice(0, given.count("limit") ?? defaultLines) };
    await out.document(shown, () => shown.data.toReversed().flatMap(logLines));
    if (shown.data.length === 0) out.note("the log is empty");
  },
};

/** Streams wrap a line as an event of `$logs`. */
function lineOf(value: unknown): LogLine {
  const line = value as LogLine & { readonly event?: LogLine }; // As the document of the stream says.
  return line.event ?? line;
}
