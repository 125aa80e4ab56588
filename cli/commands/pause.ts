import type { Definition } from "../command.ts";
import { controlRun, workflowOfRun } from "../run-control.ts";
import { switchActive, switchedArgument } from "../switch-active.ts";
import { present } from "../values.ts";

export const command: Definition = {
  description:
    "Pauses sources, workflows or webhooks. The timers of a paused source stop and its endpoints return 404. " +
    "With --run it pauses a run of a workflow before its next step.",
  arguments: [switchedArgument],
  options: [
    { flags: "--run <run>", description: "pause this run of the workflow" },
    { flags: "--reason <text>", description: "why the run is paused, for people who read it" },
  ],
  examples: [
    { command: "hw pause hello", does: "Pause a source." },
    { command: "hw pause orders --run r_0123456789ab", does: "Pause a run before its next step.", isInert: true },
  ],
  operations: ["updateSource", "updateWorkflow", "updateWebhook", "pauseWorkflowRun"],
  run: (context, given) => {
    const run = given.text("run");
    if (run === undefined) return switchActive(context, given, false);
    const body = present({ reason: given.text("reason") });
    return controlRun(context, { workflow: workflowOfRun(given), run, operation: "pauseWorkflowRun", body });
  },
};
