import type { Operations } from "../../client/generated/operations.ts";
import type { Definition, OptionDefinition, Subcommand } from "../command.ts";
import type { Context } from "../context.ts";
import type { Given } from "../given.ts";
import { listSubcommand } from "../list-subcommand.ts";
import { listOptions, showList } from "../listing.ts";
import { fieldLines } from "../output/fields.ts";
import { logLines } from "../output/events.ts";
import { ageOfMs, dateTime } from "../output/time.ts";
import { idOf } from "../references.ts";
import { jsonOf, objectsOf, present } from "../values.ts";
import { usageFailure } from "../failure.ts";
import { optionalTime } from "../times.ts";
import { attemptOptions, defaultAttempts, outcomes, rangeOf } from "./webhook-deliveries.ts";

const workflow = { name: "<workflow>", description: "a workflow", completes: "workflow" } as const;
const fileOption: OptionDefinition = {
  flags: "-f, --file <file>",
  description: "YAML or JSON in the form of the API: name, triggers, steps, settings; - is standard input",
};
const eventOption: OptionDefinition = {
  flags: "--event <json>",
  description: "the trigger's event, or @file; by default what the first trigger would send",
};

async function bodyOf(given: Given): Promise<Readonly<Record<string, unknown>>> {
  const [body, ...others] = await objectsOf(given.required("file"));
  if (body === undefined || others.length > 0)
    throw usageFailure("the file must contain one workflow", "`hw apply -f` takes files with several resources");
  return body;
}

const create: Subcommand = {
  name: "create",
  summary: "create a workflow from a file",
  options: [fileOption],
  examples: [{ command: "hw workflows create -f workflow.yaml", does: "Create a workflow." }],
  operations: ["createWorkflow"],
  run: async ({ client, out, terminal }, given) => {
    const body = (await bodyOf(given)) as Operations["createWorkflow"]["body"]; // The API checks it.
    const answer = await terminal.progress("Creating the workflow", () => client.call("createWorkflow", { body }));
    for (const { message } of answer.warnings ?? []) out.note(`warning: ${message}`);
    await out.done(answer, `workflow ${answer.data.id} created`);
  },
};

const update: Subcommand = {
  name: "update",
  summary: "change a workflow from a file",
  arguments: [workflow],
  options: [fileOption],
  examples: [{ command: "hw workflows update greet -f workflow.yaml", does: "Change a workflow." }],
  operations: ["updateWorkflow"],
  run: async ({ client, out, terminal }, given) => {
    const id = await idOf(client, "workflows", given.required("workflow"));
    const body = (await bodyOf(given)) as Operations["updateWorkflow"]["body"]; // The API checks it.
    const answer = await terminal.progress("Changing the workflow", () =>
      client.call("updateWorkflow", { path: { workflow_id: id }, body }),
    );
    for (const { message } of answer.warnings ?? []) out.note(`warning: ${message}`);
    await out.done(answer, `workflow ${id} changed`);
  },
};

const run: Subcommand = {
  name: "run",
  summary: "run a workflow now, and show the run",
  arguments: [workflow],
  options: [eventOption],
  examples: [{ command: 'hw workflows run greet --event \'{"name":"Ada"}\'', does: "Run a workflow with an event." }],
  operations: ["runWorkflow"],
  run: async ({ client, out, terminal }, given) => {
    const id = await idOf(client, "workflows", given.required("workflow"));
    const event = given.text("event");
    const body = event === undefined ? {} : { event: await jsonOf(event, "--event") };
    const answer = await terminal.progress("Running", () => client.call("runWorkflow", { path: { workflow_id: id }, body }));
    await out.document(answer, () => fieldLines(answer.data));
  },
};

const backfill: Subcommand = {
  name: "backfill",
  summary: "run a workflow for past ticks of a timer",
  arguments: [workflow],
  options: [
    { flags: "--from <time>", description: "start of the range, inclusive" },
    { flags: "--to <time>", description: "end of the range, exclusive; by default now" },
    { flags: "--trigger <id>", description: "id of the timer, ti_…; may be absent if the workflow has one" },
  ],
  examples: [{ command: "hw workflows backfill report --from 7d", does: "Run it for each tick of the last seven days." }],
  operations: ["getWorkflow", "backfillTrigger"],
  run: async ({ client, out }, given) => {
    const id = await idOf(client, "workflows", given.required("workflow"));
    const [from, to] = [optionalTime(given.required("from"), "--from", "past"), optionalTime(given.text("to"), "--to", "past")];
    const trigger = given.text("trigger") ?? (await timerOf(client, id));
    const body = present({ from, to }) as Operations["backfillTrigger"]["body"]; // The API checks it.
    const answer = await client.call("backfillTrigger", { path: { workflow_id: id, trigger_id: trigger }, body });
    const { runs, first_at_ms: first, last_at_ms: last } = answer.data;
    await out.done(answer, `${runs} runs start one after the other, for ticks from ${dateTime(first)} to ${dateTime(last)}: hw runs ${id}`);
  },
};

/** The id of the only timer. */
async function timerOf(client: Context["client"], id: string): Promise<string> {
  const { data } = await client.call("getWorkflow", { path: { workflow_id: id } });
  const [timer, ...others] = data.triggers.filter(({ type }) => type === "timer");
  if (timer === undefined) throw usageFailure(`workflow ${id} has no timer`, "only timers have ticks");
  if (others.length > 0)
    throw usageFailure(
      `workflow ${id} has several timers`,
      `name one with --trigger: ${[timer, ...others].map((each) => each.id).join(", ")}`,
    );
  return timer.id;
}

const test: Subcommand = {
  name: "test",
  summary: "test a workflow: run its steps without sending or storing anything",
  arguments: [workflow],
  options: [
    eventOption,
    { flags: "--until <step>", description: "name of the last step to execute" },
    { flags: "-f, --file <file>", description: "test the steps of this draft instead of the saved ones" },
  ],
  examples: [{ command: 'hw workflows test greet --event \'{"name":"Ada"}\'', does: "Show what each step returns." }],
  operations: ["testWorkflow"],
  run: async ({ client, out, terminal }, given) => {
    const id = await idOf(client, "workflows", given.required("workflow"));
    const event = given.text("event");
    const draft = given.has("file") ? { steps: (await bodyOf(given))["steps"] } : {};
    const values = { until_step: given.text("until"), ...draft, ...(event === undefined ? {} : { event: await jsonOf(event, "--event") }) };
    const body = present(values) as Operations["testWorkflow"]["body"]; // The API checks it.
    const answer = await terminal.progress("Testing", () => client.call("testWorkflow", { path: { workflow_id: id }, body }));
    const { steps, ...fields } = answer.data;
    await out.document(answer, () => [
      ...fieldLines(fields),
      ...steps.flatMap(({ logs, ...step }) => ["", ...fieldLines(step), ...logs.flatMap(logLines)]),
    ]);
  },
};

const sends: Subcommand = {
  name: "sends",
  summary: "list attempts to carry out what $.send asked for",
  arguments: [workflow],
  options: [...listOptions, ...attemptOptions, { flags: "--run <run>", description: "only those of this run" }],
  examples: [{ command: "hw workflows sends greet", does: "List requests, mails and uploads of a workflow." }],
  operations: ["listSendAttempts"],
  run: async (context, given) => {
    const id = await idOf(context.client, "workflows", given.required("workflow"));
    const query = { outcome: outcomes.find((each) => each === given.text("outcome")), run_id: given.text("run"), ...rangeOf(given) };
    await showList(context, given, {
      what: "attempts",
      read: (page) => context.client.call("listSendAttempts", { path: { workflow_id: id }, query: { ...query, ...page } }),
      nameOf: ({ delivery_id: delivery }) => delivery,
      defaultLimit: defaultAttempts,
      columns: [
        { header: "DELIVERY", value: ({ delivery_id: delivery }) => delivery, isWhole: true },
        { header: "SEND", value: ({ send }) => send },
        { header: "OUTCOME", value: ({ outcome }) => outcome },
        { header: "ATTEMPT", value: ({ attempt }) => String(attempt) },
        { header: "STATUS", value: ({ response_status: status }) => String(status ?? "-") },
        { header: "AGE", value: ({ at_ms: at }) => ageOfMs(at) },
        { header: "CAUSE", value: ({ cause }) => cause ?? "" },
      ],
    });
  },
};

const failedSends: Subcommand = {
  name: "failed-sends",
  summary: "list what $.send asked for and failed, and events that could not wait",
  arguments: [workflow],
  options: listOptions,
  examples: [{ command: "hw workflows failed-sends greet", does: "List what is not retried any more." }],
  operations: ["listFailedSends"],
  run: async (context, given) => {
    const id = await idOf(context.client, "workflows", given.required("workflow"));
    await showList(context, given, {
      what: "failed sends",
      read: (query) => context.client.call("listFailedSends", { path: { workflow_id: id }, query }),
      nameOf: ({ delivery_id: delivery }) => delivery,
      columns: [
        { header: "DELIVERY", value: ({ delivery_id: delivery }) => delivery, isWhole: true },
        { header: "SEND", value: ({ send }) => send ?? "-" },
        { header: "RUN OR EVENT", value: ({ run_id: ofRun, event }) => ofRun ?? event?.event_id ?? "" },
        { header: "ATTEMPTS", value: ({ attempts }) => String(attempts) },
        { header: "AGE", value: ({ died_at_ms: at }) => ageOfMs(at) },
        { header: "CAUSE", value: ({ cause }) => cause },
      ],
    });
  },
};

export const command: Definition = {
  description: "Manages workflows: several steps for each event. `hw runs`, `hw events` and `hw logs` take workflows as well.",
  examples: [{ command: "hw workflows list", does: "List workflows." }],
  operations: [],
  subcommands: [listSubcommand("workflows"), create, update, run, backfill, test, sends, failedSends],
};
