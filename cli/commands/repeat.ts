import type { RepeatedRuns, StartedWorkflowRun, WorkflowRun } from "../../client/generated/operations.ts";
import type { Definition } from "../command.ts";
import type { Context } from "../context.ts";
import { exitCodes, Failure, usageFailure } from "../failure.ts";
import type { Given } from "../given.ts";
import { fieldLines } from "../output/fields.ts";
import { idOf } from "../references.ts";
import { optionalTime } from "../times.ts";
import { present } from "../values.ts";
import { parseEvent } from "./run.ts";

const firstSteps = ["failed_step", "first_step"] as const;
const endStatuses = ["failed", "canceled", "exited", "succeeded"] as const;

export const command: Definition = {
  description:
    "Starts a new run of a workflow with the event of an ended one, from the step that failed or another one. " +
    "Without a run it repeats all stored runs that failed, oldest first.",
  arguments: [
    { name: "<workflow>", description: "a workflow", completes: "source" },
    { name: "[run]", description: "id of a run, r_…" },
  ],
  options: [
    { flags: "--from <step>", description: "the step that runs first; without a run: failed_step or first_step" },
    { flags: "--event <file>", description: "another event: a file with JSON, - for standard input, or the JSON itself" },
    { flags: "--same-version", description: "on the version of the run; by default on the current one" },
    { flags: "--without-files", description: "without the files that the steps before have left" },
    { flags: "--status <status>", description: "without a run: those with this status", choices: endStatuses },
    { flags: "--since <time>", description: "without a run: those that started at this time or later, such as 2h" },
    { flags: "--until <time>", description: "without a run: those that started before this time" },
    { flags: "--dry-run", description: "without a run: show which runs it would repeat" },
  ],
  examples: [
    { command: "hw repeat hello r_0123456789ab", does: "Repeat a run from the step that failed.", isInert: true },
    { command: "hw repeat hello --since 2h --dry-run", does: "Show the failed runs of two hours.", isInert: true },
  ],
  operations: ["repeatWorkflowRun", "repeatWorkflowRuns"],
  run: async (context, given) => {
    const workflow = await idOf(context.client, "workflows", given.required("workflow"));
    const run = given.text("run");
    const version = given.flag("same-version") ? "same" : undefined;
    await (run === undefined ? repeatAll(context, given, workflow, version) : repeatOne(context, given, { workflow, run, version }));
  },
};

type Version = "same" | undefined;

const withoutFiles = (given: Given): true | undefined => (given.flag("without-files") ? true : undefined);

async function repeatOne(
  { client, out, terminal }: Context,
  given: Given,
  { workflow, run, version }: { readonly workflow: string; readonly run: string; readonly version: Version },
): Promise<void> {
  for (const flag of ["status", "since", "until"]) if (given.has(flag)) throw usageFailure(`--${flag} selects runs`, "leave the run out");
  if (given.flag("dry-run")) throw usageFailure("--dry-run is for several runs", "leave the run out");
  const event = given.text("event");
  const body = {
    ...present({ from: given.text("from"), version, without_files: withoutFiles(given) }),
    ...(event === undefined ? {} : { event: await parseEvent(event) }),
  };
  const path = { workflow_id: workflow, run_id: run };
  const answer = await terminal.progress("Running", () => client.call("repeatWorkflowRun", { path, body }));
  await out.document(answer, () => fieldLines(answer.data as WorkflowRun | StartedWorkflowRun));
}

async function repeatAll({ client, out }: Context, given: Given, workflow: string, version: Version): Promise<void> {
  if (given.has("event")) throw usageFailure("--event is for one run", "name the run");
  const from = firstSteps.find((each) => each === given.text("from"));
  if (given.has("from") && from === undefined)
    throw usageFailure(`--from ${given.text("from")} is a step of one run`, `name the run, or use ${firstSteps.join(" or ")}`);
  const isDry = given.flag("dry-run");
  const body = present({
    from,
    version,
    without_files: withoutFiles(given),
    status: endStatuses.find((each) => each === given.text("status")),
    since_ms: optionalTime(given.text("since"), "--since", "past"),
    until_ms: optionalTime(given.text("until"), "--until", "past"),
    dry_run: isDry ? true : undefined,
  });
  const answer = await client.call("repeatWorkflowRuns", { path: { workflow_id: workflow }, body });
  const { repeated, refused }: RepeatedRuns = answer.data;
  const verb = isDry ? "would be repeated" : "repeated";
  await out.document(answer, () => [
    ...repeated.map(({ run_id: run, id }) => `${run} ${verb}${id === null ? "" : ` as ${id}`}`),
    ...refused.map(({ run_id: run, error }) => `${run} refused: ${error}`),
    ...(repeated.length + refused.length === 0 ? ["no run matches"] : []),
  ]);
  if (refused.length > 0) throw new Failure(`${refused.length} run(s) were not repeated`, { exitCode: exitCodes.failure });
}
