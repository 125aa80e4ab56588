import type { Definition } from "../command.ts";
import { switchActive, switchedArgument } from "../switch-active.ts";

export const command: Definition = {
  description: "Switches paused sources, workflows or webhooks on, also a webhook that was disabled because its endpoint failed.",
  arguments: [switchedArgument],
  examples: [{ command: "hw resume hello", does: "Switch a source on again." }],
  operations: ["updateSource", "updateWorkflow", "updateWebhook"],
  run: (context, given) => switchActive(context, given, true),
};
