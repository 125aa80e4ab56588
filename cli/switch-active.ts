import type { ArgumentDefinition } from "./command.ts";
import type { Context } from "./context.ts";
import type { Given } from "./given.ts";
import { referredTo } from "./references.ts";

export const switchedKinds = ["sources", "workflows", "webhooks"];
export const switchedArgument: ArgumentDefinition = {
  name: "<thing...>",
  description: "sources, workflows or webhooks",
  completes: "source",
};

/** Switches sources, workflows and webhooks on or off. */
export async function switchActive({ client, out }: Context, given: Given, isActive: boolean): Promise<void> {
  for (const text of given.list("thing")) {
    const { kind, id } = await referredTo(client, text, switchedKinds);
    const body = { active: isActive };
    const answer = await (kind.name === "workflows"
      ? client.call("updateWorkflow", { path: { workflow_id: id }, body })
      : kind.name === "webhooks"
        ? client.call("updateWebhook", { path: { id }, body })
        : client.call("updateSource", { path: { id }, body }));
    await out.done(answer, `${kind.noun} ${id} is ${isActive ? "active" : "paused"}`);
  }
}
