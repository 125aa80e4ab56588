import type { Client } from "../client/client.ts";
import type { ArgumentDefinition } from "./command.ts";
import type { Context } from "./context.ts";
import type { Given } from "./given.ts";
import { referredTo, type Referred } from "./references.ts";

const switchedKinds = ["sources", "workflows", "webhooks"];
export const switchedArgument: ArgumentDefinition = {
  name: "<thing...>",
  description: "sources, workflows or webhooks",
  completes: "source",
};

/** Switches sources, workflows and webhooks on or off. */
export async function switchActive({ client, out }: Context, given: Given, isActive: boolean): Promise<void> {
  for (const text of given.list("thing")) {
    const { kind, id, answer } = await setActive(client, text, isActive);
    await out.done(answer, `${kind.noun} ${id} is ${isActive ? "active" : "paused"}`);
  }
}

interface Switched extends Referred {
  readonly answer: unknown;
}

/** Switches a source, workflow or webhook on or off. */
export async function setActive(client: Client, text: string, isActive: boolean): Promise<Switched> {
  const { kind, id } = await referredTo(client, text, switchedKinds);
  const body = { active: isActive };
  const answer = await (kind.name === "workflows"
    ? client.call("updateWorkflow", { path: { workflow_id: id }, body })
    : kind.name === "webhooks"
      ? client.call("updateWebhook", { path: { id }, body })
      : client.call("updateSource", { path: { id }, body }));
  return { kind, id, answer };
}
