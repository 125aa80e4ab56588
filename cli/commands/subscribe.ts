import type { Definition } from "../command.ts";
import { automaticChannel, emitterPattern, listenerIdOf, subscriptionArguments, subscriptionOptions } from "../subscriptions.ts";
import { usageFailure } from "../failure.ts";

export const command: Definition = {
  description:
    "Connects a source or workflow to a listener, which then gets its events. `dc_*` stands for all sources, `p_*` for all workflows. " +
    "With --all, the listener gets the errors or logs of all sources, also of future ones.",
  arguments: subscriptionArguments,
  options: subscriptionOptions,
  examples: [
    { command: "hw subscribe hello orders", does: "Deliver events of the source hello to the webhook orders." },
    { command: "hw subscribe --all --channel '$errors' orders", does: "Deliver errors of all sources, also of future ones." },
  ],
  operations: ["subscribe", "subscribeToAll"],
  run: async ({ client, out }, given) => {
    const [first, second] = [given.required("emitter"), given.text("listener")];
    if (given.flag("all")) {
      const body = { event_name: automaticChannel(given), listener_id: await listenerIdOf(client, second ?? first) };
      const answer = await client.call("subscribeToAll", { body });
      return out.done(answer, `${body.listener_id} gets ${body.event_name} of all sources`);
    }
    if (second === undefined) throw usageFailure("the listener is missing", "hw subscribe <emitter> <listener>");
    const [emitter, listener] = [await emitterPattern(client, first), await listenerIdOf(client, second)];
    const answer = await client.call("subscribe", {
      body: { emitter_id: emitter, listener_id: listener, event_name: given.text("channel") },
    });
    await out.done(answer, `${listener} gets events of ${emitter} (subscription ${answer.data.id})`);
  },
};
