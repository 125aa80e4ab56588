import type { Definition } from "../command.ts";
import { idOf, referredTo } from "../references.ts";
import { present } from "../values.ts";

export const command: Definition = {
  description: "Delivers past events of a source again: to all its listeners, or to one.",
  arguments: [{ name: "<source>", description: "a source", completes: "source" }],
  options: [
    { flags: "--from <event>", description: "first event; by default the oldest" },
    { flags: "--to <event>", description: "last event; by default the newest" },
    { flags: "--channel <name>", description: "only events of this channel" },
    { flags: "--listener <listener>", description: "deliver only to this webhook, source or workflow" },
  ],
  examples: [{ command: "hw replay hello", does: "Deliver all stored events again." }],
  operations: ["replayEvents"],
  run: async ({ client, out }, given) => {
    const id = await idOf(client, "sources", given.required("source"));
    const listener = given.text("listener");
    const listenerId = listener === undefined ? undefined : (await referredTo(client, listener, ["webhooks", "sources", "workflows"])).id;
    const body = present({
      start_id: given.text("from"),
      end_id: given.text("to"),
      event_name: given.text("channel"),
      listener_id: listenerId,
    });
    const answer = await client.call("replayEvents", { path: { id }, body });
    await out.done(answer, `${answer.data.events} events of ${id} are delivered again`);
  },
};
