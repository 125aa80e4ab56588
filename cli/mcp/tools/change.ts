import type { Client } from "../../../client/client.ts";
import { findDeployable } from "../../component/named.ts";
import { nameIn, saveWorkflow, workflowNamed } from "../../component/workflow-file.ts";
import { emitterOf } from "../../emitters.ts";
import { Failure, usageFailure } from "../../failure.ts";
import { idOf } from "../../references.ts";
import { lastEventOf } from "../../run-source.ts";
import { setActive } from "../../switch-active.ts";
import { present } from "../../values.ts";
import { wholeAnswer } from "./answer.ts";
import { isWorkflowFile, namedComponent, sendingOf, workflowFileBody } from "./files.ts";
import { defineTool, emitter, event, fields, flag, name, text, type Tool, type ToolContext } from "./tool.ts";

const values = fields("Values by name of the prop").optional();
const newCode = name("A file, an address (https: or npm:), or the key or id of a component; a .yaml file is a workflow");
const workflow = name("Id or name of a workflow");
const run = name("Id of a run, r_…");
const whole = "describe";

const deployable = async (context: ToolContext, component: string) =>
  findDeployable(context.client, await namedComponent(context, component), sendingOf(context));

const deploy = defineTool({
  name: "deploy",
  description: "Deploys a component as a new source, or a file in YAML as a new workflow.",
  effect: "create",
  operations: ["createSource", "saveComponent", "getComponent", "getPublishedComponent", "createWorkflow", "listMyWorkflows"],
  input: { component: newCode, props: values, name: name("Display name, by default that of the component").optional() },
  call: async (context, { component, props, name: label }) => {
    const { client } = context;
    if (isWorkflowFile(component)) {
      if (props !== undefined || label !== undefined)
        throw usageFailure("props and name are for sources", "the file of a workflow has them");
      const body = await workflowFileBody(context, component);
      const existing = await workflowNamed(client, nameIn(body));
      if (existing !== undefined)
        throw new Failure(`workflow "${nameIn(body)}" exists as ${existing}`, { hint: "the tool update changes it" });
      return created(await saveWorkflow(client, undefined, body));
    }
    const { body } = await deployable(context, component);
    return created(await client.call("createSource", { body: { ...body, configured_props: props ?? {}, ...present({ name: label }) } }));
  },
});

const created = ({
  data,
  warnings,
}: {
  readonly data: { readonly id: string };
  readonly warnings?: readonly object[] | undefined;
}): string => wholeAnswer({ ...data, warnings }, `hw describe ${data.id} -o json`);

const update = defineTool({
  name: "update",
  description:
    "Changes the code or props of a source, where props that are not given stay, or a workflow to the content of a file in YAML.",
  effect: "set",
  operations: [
    ...(["updateSource", "getSource", "updateWorkflow", "saveComponent", "getComponent"] as const),
    ...(["getPublishedComponent", "listMySources", "listMyWorkflows"] as const),
  ],
  input: { source: emitter, component: newCode.optional(), props: values },
  call: async (context, { source, component, props }) => {
    const { client } = context;
    const { id, isWorkflow } = await emitterOf(client, source);
    if (isWorkflow) {
      if (props !== undefined || component === undefined)
        throw usageFailure("a workflow is changed by a file", "give component: a .yaml file");
      return created(await saveWorkflow(client, id, await workflowFileBody(context, component)));
    }
    if (component === undefined && props === undefined) throw usageFailure("nothing is to be changed", "give component or props");
    const { data } = await client.call("getSource", { path: { id } });
    const code = component === undefined ? {} : (await deployable(context, component)).body;
    const configured = props === undefined ? {} : { configured_props: { ...data.configured_props, ...props } };
    return created(await client.call("updateSource", { path: { id }, body: { ...code, ...configured, name: data.name } }));
  },
});

const runNow = defineTool({
  name: "run",
  description:
    "Runs a source or workflow now, and shows the run with its log. dry_run shows the same and stores nothing; the requests that the code makes are real.",
  effect: "act",
  operations: ["runSource", "runWorkflow", "listEvents", "listMySubscriptions"],
  input: { source: emitter, event, last: flag("Run a source with its last event, instead of `event`") },
  call: async ({ client }, { source, event: value, last }) => {
    const { id, isWorkflow } = await emitterOf(client, source);
    if (isWorkflow && last === true) throw usageFailure("last is for sources", "give event");
    if (last === true && value !== undefined) throw usageFailure("event and last exclude each other");
    const given = value === undefined ? {} : { event: value };
    if (isWorkflow) return wholeAnswer((await client.call("runWorkflow", { path: { workflow_id: id }, body: given })).data, "runs");
    const body = last === true ? await lastEventOf(client, id) : given;
    return wholeAnswer((await client.call("runSource", { path: { id }, body })).data, `hw runs ${id} RUN -o json`);
  },
});

const replay = defineTool({
  name: "replay",
  description: "Delivers past events of a source to its listeners again.",
  effect: "act",
  operations: ["replayEvents", "listMySources"],
  input: { source: name("A source"), from: name("Id of the first event").optional(), to: name("Id of the last event").optional() },
  call: async ({ client }, { source, from, to }) => {
    const id = await idOf(client, "sources", source);
    return wholeAnswer((await client.call("replayEvents", { path: { id }, body: present({ start_id: from, end_id: to }) })).data, whole);
  },
});

const repeat = defineTool({
  name: "repeat",
  description: "Starts a new run of a workflow with the event of an ended one, from the step that failed or another one.",
  effect: "act",
  operations: ["repeatWorkflowRun", "listMyWorkflows"],
  input: {
    workflow,
    run,
    from: name("Name or id of the step that runs first").optional(),
    event: event.describe("Another event, any JSON value"),
    same_version: flag("On the version of the run, instead of the current one"),
    without_files: flag("Without the files that the steps before have left"),
  },
  call: async ({ client }, { workflow: named, run: id, from, event: value, same_version: isSame, without_files: withoutFiles }) => {
    const path = { workflow_id: await idOf(client, "workflows", named), run_id: id };
    const body = {
      ...present({ from, event: value, without_files: withoutFiles }),
      ...(isSame === true ? ({ version: "same" } as const) : {}),
    };
    return wholeAnswer((await client.call("repeatWorkflowRun", { path, body })).data, "runs");
  },
});

const cancel = defineTool({
  name: "cancel",
  description: "Cancels a run of a workflow that has not ended. A step that runs at the time ends first.",
  effect: "act",
  operations: ["cancelWorkflowRun", "listMyWorkflows"],
  input: { workflow, run, reason: text("Why, for people who read the run").optional() },
  call: async ({ client }, { workflow: named, run: id, reason }) => {
    const path = { workflow_id: await idOf(client, "workflows", named), run_id: id };
    return wholeAnswer((await client.call("cancelWorkflowRun", { path, body: present({ reason }) })).data, "runs");
  },
});

const switched = name("A source, workflow or webhook");

const pause = defineTool({
  name: "pause",
  description: "Pauses a source, workflow or webhook: timers stop and endpoints return 404. With run, pauses that run of a workflow.",
  effect: "set",
  operations: ["updateSource", "updateWorkflow", "updateWebhook", "pauseWorkflowRun"],
  input: { thing: switched, run: run.optional(), reason: text("Why the run is paused, for people who read it").optional() },
  call: async ({ client }, { thing, run: id, reason }) => {
    if (id === undefined) {
      if (reason !== undefined) throw usageFailure("reason is that of a run", "give run");
      return switchTo(client, thing, false);
    }
    const path = { workflow_id: await idOf(client, "workflows", thing), run_id: id };
    return wholeAnswer((await client.call("pauseWorkflowRun", { path, body: present({ reason }) })).data, "runs");
  },
});

const resume = defineTool({
  name: "resume",
  description:
    "Switches a paused or disabled source, workflow or webhook on. With run, resumes a run of a workflow that is paused or waits: it approves, " +
    "and data is what the run gets in place of a request to its resume URL.",
  effect: "act",
  operations: ["updateSource", "updateWorkflow", "updateWebhook", "resumeWorkflowRun"],
  input: { thing: switched, run: run.optional(), data: event.describe("What the run gets, any JSON value") },
  call: async ({ client }, { thing, run: id, data }) => {
    if (id === undefined) {
      if (data !== undefined) throw usageFailure("data is for a run", "give run");
      return switchTo(client, thing, true);
    }
    const path = { workflow_id: await idOf(client, "workflows", thing), run_id: id };
    return wholeAnswer((await client.call("resumeWorkflowRun", { path, body: present({ data }) })).data, "runs");
  },
});

async function switchTo(client: Client, thing: string, isActive: boolean): Promise<string> {
  const { id } = await setActive(client, thing, isActive);
  return wholeAnswer({ id, active: isActive }, whole);
}

export const changing: readonly Tool[] = [deploy, update, runNow, replay];
export const controlling: readonly Tool[] = [repeat, cancel, pause, resume];
