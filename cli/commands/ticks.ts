import type { Definition } from "../command.ts";
import { listOptions, showList } from "../listing.ts";
import { dateTime } from "../output/time.ts";
import { emitterOf } from "../emitters.ts";

const defaultTicks = 20;

export const command: Definition = {
  description:
    "Lists ticks of the timers of a source or workflow, newest first: whether each has started a run in time, late or not at all, and why.",
  arguments: [{ name: "<source>", description: "a source or workflow", completes: "source" }],
  options: listOptions,
  examples: [{ command: "hw ticks hello", does: `Show the last ${defaultTicks} ticks.` }],
  operations: ["listTicks", "listWorkflowTicks"],
  run: async (context, given) => {
    const { id, isWorkflow } = await emitterOf(context.client, given.required("source"));
    await showList(context, given, {
      what: "ticks",
      read: (query) =>
        isWorkflow
          ? context.client.call("listWorkflowTicks", { path: { workflow_id: id }, query })
          : context.client.call("listTicks", { path: { id }, query }),
      defaultLimit: defaultTicks,
      columns: [
        { header: "DUE", value: ({ due_at_ms: at }) => dateTime(at), isWhole: true },
        { header: "STATE", value: ({ state }) => state },
        { header: "LATE", value: ({ late_ms: ms }) => (ms === null ? "-" : `${ms}ms`) },
        { header: "RUN", value: ({ run_id: run }) => run ?? "-" },
        { header: "REASON", value: ({ reason }) => reason ?? "" },
      ],
    });
  },
};
