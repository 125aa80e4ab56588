import type { Definition } from "../command.ts";
import { controlRun, workflowOfRun } from "../run-control.ts";
import { switchActive, switchedArgument } from "../switch-active.ts";
import { jsonOf } from "../values.ts";

export const command: Definition = {
  description:
    "Switches paused sources, workflows or webhooks on, also a webhook that was disabled because its endpoint failed. " +
    "With --run it resumes a run of a workflow that is paused or waits.",
  arguments: [switchedArgument],
  options: [
    { flags: "--run <run>", description: "resume this run of the workflow" },
    { flags: "--data <json>", description: "what the run gets in place of a request to its resume URL" },
  ],
  examples: [
    { command: "hw resume hello", does: "Switch a source on again." },
    { command: `hw resume orders --run r_0123456789ab --data '{"approved":true}'`, does: "Resume a run that waits.", isInert: true },
  ],
  operations: ["updateSource", "updateWorkflow", "updateWebhook", "resumeWorkflowRun"],
  run: async (context, given) => {
    const run = given.text("run");
    if (run === undefined) return switchActive(context, given, true);
    const data = given.text("data");
    const body = data === undefined ? {} : { data: await jsonOf(data, "--data") };
    await controlRun(context, { workflow: workflowOfRun(given), run, operation: "resumeWorkflowRun", body });
  },
};
