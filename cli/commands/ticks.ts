import type { Definition } from "../command.ts";
import { listOptions, showList } from "../listing.ts";
import { dateTime } from "../output/time.ts";
import { idOf } from "../references.ts";

const defaultTicks = 20;

export const command: Definition = {
  description: "Lists ticks of a source's timers, newest first: whether each has run its source in time, late or not at all, and why.",
  arguments: [{ name: "<source>", description: "a source", completes: "source" }],
  options: listOptions,
  examples: [{ command: "hw ticks hello", does: `Show the last ${defaultTicks} ticks.` }],
  operations: ["listTicks"],
  run: async (context, given) => {
    const id = await idOf(context.client, "sources", given.required("source"));
    await showList(context, given, {
      what: "ticks",
      read: (page) => context.client.call("listTicks", { path: { id }, query: page }),
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
