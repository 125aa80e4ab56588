import type { Run, WorkflowRun } from "../../client/generated/operations.ts";
import type { Definition } from "../command.ts";
import type { Context } from "../context.ts";
import { emitterOf } from "../emitters.ts";
import type { Given } from "../given.ts";
import { listOptions, showList } from "../listing.ts";
import { logLines } from "../output/events.ts";
import { fieldLines } from "../output/fields.ts";
import type { Column } from "../output/table.ts";
import { ageOfMs } from "../output/time.ts";
import { onePage } from "../kinds/kind.ts";
import { usageFailure } from "../failure.ts";

const statuses = ["running", "suspended", "succeeded", "exited", "failed", "canceled"] as const;
const defaultRuns = 20;

export const command: Definition = {
  description: "Lists runs of a source or workflow, newest first; with a run's id it shows that run with its logs or steps.",
  arguments: [
    { name: "<source>", description: "a source or workflow", completes: "source" },
    { name: "[run]", description: "id of a run, r_…" },
  ],
  options: [
    ...listOptions,
    { flags: "--failed", description: "only failed runs" },
    { flags: "--status <status>", description: "only runs of a workflow with this status", choices: statuses },
    { flags: "--event <event>", description: "runs that this event of the source or workflow has started" },
  ],
  examples: [
    { command: "hw runs hello", does: `List the last ${defaultRuns} runs.` },
    { command: "hw runs hello --failed -o json", does: "Print failed runs as JSON." },
    { command: "hw runs hello r_0123456789ab", does: "Show a run with its logs." },
  ],
  operations: ["listRuns", "getRun", "listWorkflowRuns", "getWorkflowRun", "listRunsOfSourceEvent", "listRunsOfWorkflowEvent"],
  run: async (context, given) => {
    const { id, isWorkflow } = await emitterOf(context.client, given.required("source"));
    const event = given.text("event");
    if (event !== undefined) return listOfEvent(context, given, { id, isWorkflow, event });
    const run = given.text("run");
    if (run !== undefined) return isWorkflow ? showWorkflowRun(context, id, run) : showRun(context, id, run);
    await (isWorkflow ? listOfWorkflow(context, given, id) : listOfSource(context, given, id));
  },
};

const runColumns: readonly Column<Run>[] = [
  { header: "ID", value: ({ id }) => id, isWhole: true },
  { header: "STATUS", value: ({ status }) => status, isWhole: true },
  { header: "TRIGGER", value: ({ trigger }) => trigger },
  { header: "DURATION", value: ({ duration_ms: ms }) => `${ms}ms` },
  { header: "CPU", value: ({ cpu_ms: ms }) => `${ms}ms`, isWide: true },
  { header: "EVENTS", value: ({ event_ids: ids }) => String(ids.length) },
  { header: "AGE", value: ({ started_at_ms: at }) => ageOfMs(at) },
  { header: "ERROR", value: ({ error }) => error?.message ?? "" },
];

const workflowRunColumns: readonly Column<WorkflowRun>[] = [
  { header: "ID", value: ({ id }) => id, isWhole: true },
  { header: "STATUS", value: ({ status }) => status, isWhole: true },
  { header: "TRIGGER", value: ({ trigger }) => trigger },
  { header: "STEPS", value: ({ steps_done: done, step_count: count }) => `${done}/${count}` },
  { header: "DURATION", value: ({ duration_ms: ms }) => (ms === null ? "-" : `${ms}ms`) },
  { header: "AGE", value: ({ started_at_ms: at }) => ageOfMs(at) },
  { header: "ERROR", value: ({ error, reason }) => error?.message ?? reason ?? "" },
];

async function listOfSource(context: Context, given: Given, id: string): Promise<void> {
  if (given.has("status")) throw usageFailure("--status is for workflows", "use --failed for a source");
  const query = given.flag("failed") ? { failed: true } : {};
  await showList(context, given, {
    what: "runs",
    columns: runColumns,
    read: (page) => context.client.call("listRuns", { path: { id }, query: { ...query, ...page } }),
    defaultLimit: defaultRuns,
  });
}

async function listOfWorkflow(context: Context, given: Given, id: string): Promise<void> {
  const status = given.flag("failed") ? "failed" : statuses.find((each) => each === given.text("status"));
  await showList(context, given, {
    what: "runs",
    columns: workflowRunColumns,
    read: (page) => context.client.call("listWorkflowRuns", { path: { workflow_id: id }, query: { status, ...page } }),
    defaultLimit: defaultRuns,
  });
}

async function listOfEvent(
  context: Context,
  given: Given,
  { id, isWorkflow, event }: { readonly id: string; readonly isWorkflow: boolean; readonly event: string },
): Promise<void> {
  const { client } = context;
  await showList(context, given, {
    what: "runs",
    columns: workflowRunColumns,
    read: () =>
      onePage(
        isWorkflow
          ? client.call("listRunsOfWorkflowEvent", { path: { workflow_id: id, event_id: event } })
          : client.call("listRunsOfSourceEvent", { path: { id, event_id: event } }),
      ),
  });
}

async function showRun({ client, out }: Context, id: string, run: string): Promise<void> {
  const answer = await client.call("getRun", { path: { id, run_id: run } });
  const { logs = [], ...fields } = { ...answer.data } as Run; // A started run has fewer fields.
  await out.document(answer, () => [
    ...fieldLines(fields),
    ...(logs.length === 0 ? [] : ["logs:", ...logs.flatMap(logLines).map((line) => `  ${line}`)]),
  ]);
}

async function showWorkflowRun({ client, out }: Context, id: string, run: string): Promise<void> {
  const answer = await client.call("getWorkflowRun", { path: { workflow_id: id, run_id: run } });
  await out.document(answer, () => fieldLines(answer.data));
}
