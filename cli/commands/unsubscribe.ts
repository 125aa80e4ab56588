import type { Definition } from "../command.ts";
import { automaticChannel, emitterPattern, listenerIdOf, subscriptionArguments, subscriptionOptions } from "../subscriptions.ts";
import { idOf } from "../references.ts";
import { usageFailure } from "../failure.ts";
import { present } from "../values.ts";

export const command: Definition = {
  description:
    "Ends a subscription, by its id or by emitter and listener. With --all it ends an auto-subscription with all subscriptions it created.",
  arguments: subscriptionArguments,
  options: subscriptionOptions,
  examples: [
    { command: "hw unsubscribe hello orders", does: "End the subscription of a webhook to a source." },
    { command: "hw unsubscribe --all --channel '$errors' orders", does: "End an auto-subscription." },
  ],
  operations: ["unsubscribe", "deleteSubscription", "unsubscribeFromAll"],
  run: async ({ client, out }, given) => {
    const [first, second] = [given.required("emitter"), given.text("listener")];
    if (given.flag("all")) {
      const query = { event_name: automaticChannel(given), listener_id: await listenerIdOf(client, second ?? first) };
      return out.done(
        await client.call("unsubscribeFromAll", { query }),
        `${query.listener_id} no longer gets ${query.event_name} of all sources`,
      );
    }
    if (second === undefined) {
      if (!first.startsWith("sub_"))
        throw usageFailure("the listener is missing", "hw unsubscribe <emitter> <listener>, or the id of a subscription");
      const id = await idOf(client, "subscriptions", first);
      await client.call("deleteSubscription", { path: { id } });
      return out.done({ data: { id } }, `subscription ${id} deleted`);
    }
    const [emitter, listener] = [await emitterPattern(client, first), await listenerIdOf(client, second)];
    const query = { emitter_id: emitter, listener_id: listener, ...present({ event_name: given.text("channel") }) };
    await out.done(await client.call("unsubscribe", { query }), `${listener} no longer gets events of ${emitter}`);
  },
};
