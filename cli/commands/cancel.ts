import type { Definition } from "../command.ts";
import { controlRun } from "../run-control.ts";
import { present } from "../values.ts";

export const command: Definition = {
  description: "Cancels a run of a workflow that has not ended. A step that runs at the time ends first.",
  arguments: [
    { name: "<workflow>", description: "a workflow", completes: "source" },
    { name: "<run>", description: "id of a run, r_…" },
  ],
  options: [{ flags: "--reason <text>", description: "why, for people who read the run" }],
  examples: [{ command: "hw cancel hello r_0123456789ab --reason 'wrong customer'", does: "Cancel a run.", isInert: true }],
  operations: ["cancelWorkflowRun"],
  run: (context, given) =>
    controlRun(context, {
      workflow: given.required("workflow"),
      run: given.required("run"),
      operation: "cancelWorkflowRun",
      body: present({ reason: given.text("reason") }),
    }),
};
