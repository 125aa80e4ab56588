import type { Definition } from "../command.ts";
import { switchActive, switchedArgument } from "../switch-active.ts";

export const command: Definition = {
  description: "Pauses sources, workflows or webhooks. The timers of a paused source stop and its endpoints return 404.",
  arguments: [switchedArgument],
  examples: [{ command: "hw pause hello", does: "Pause a source." }],
  operations: ["updateSource", "updateWorkflow", "updateWebhook"],
  run: (context, given) => switchActive(context, given, false),
};
