import type { Operations } from "../../../client/generated/operations.ts";
import { buildStep, codedSteps } from "../../component/workflow-file.ts";
import { usageFailure } from "../../failure.ts";
import { idOf } from "../../references.ts";
import { lastEventOf } from "../../run-source.ts";
import { present } from "../../values.ts";
import { wholeAnswer } from "./answer.ts";
import { build, isAddress, isCodeFile, isWorkflowFile, namedComponent, sendingOf, workflowFileBody } from "./files.ts";
import { sourceNamed } from "./props.ts";
import { defineTool, event, fields, flag, name, type Tool, type ToolContext } from "./tool.ts";

const file = name("Path of the file that exports the component; its relative imports are sent with it");
const values = fields("Values by name of the prop").optional();

const validate = defineTool({
  name: "validate",
  description:
    "Builds a component, or the steps of a workflow in YAML, without saving it; reports mistakes with the lines of code, and warnings.",
  effect: "read",
  operations: ["saveComponent"],
  input: { file: file.describe("Path of the file that exports the component, or of a workflow in YAML") },
  call: async (context, { file: path }) => {
    if (isWorkflowFile(path)) return validateSteps(context, path);
    const { data, warnings } = await build(context, path);
    const { name: label, version, configurable_props: props, files } = data;
    const names = props.map((prop) => prop.name);
    return wholeAnswer({ valid: true, name: label, version, props: names, files: files.length + 1, warnings }, "hw validate");
  },
});

async function validateSteps(context: ToolContext, path: string): Promise<string> {
  const { steps } = await workflowFileBody(context, path);
  const built: object[] = [];
  for (const step of codedSteps(steps)) {
    const { warnings } = await buildStep(context.client, step);
    built.push({ step: step.name, warnings });
  }
  return wholeAnswer({ valid: true, built, note: "deploy checks the rest of the workflow" }, "hw validate");
}

const dryRun = defineTool({
  name: "dry_run",
  description: "Runs a component or source once and shows what it would emit, store and respond, its log and its error.",
  effect: "trial",
  operations: ["testSource", "runSource", "listMySources", "listMySubscriptions", "listEvents"],
  input: {
    of: name("A file, the address (https: or npm:), key or id of a component, or a source"),
    props: values.describe("Values by name of the prop; of a source its own are used"),
    event,
    last: flag("Run a source with its last event, instead of `event`"),
  },
  call: async (context, { of, props: given, event: value, last }) => {
    const { client } = context;
    const named = await namedComponent(context, of);
    const isComponent = isCodeFile(named) || isAddress(named) || named.startsWith("sc_");
    const source = isComponent ? undefined : await sourceNamed(client, named);
    const body = value === undefined ? {} : { event: value };
    if (source !== undefined) {
      if (given !== undefined) throw usageFailure("props are for components: a source has its own", "name the component or file instead");
      if (last === true && value !== undefined) throw usageFailure("event and last exclude each other");
      const event_id = last === true ? await lastEventOf(client, source) : body;
      const { data } = await client.call("runSource", { path: { id: source }, body: { ...event_id, dry_run: true } });
      return wholeAnswer(data, `hw run ${source} --dry-run -o json`);
    }
    if (last === true) throw usageFailure("last is for sources", "give event");
    const code: Operations["testSource"]["body"] = isAddress(named)
      ? { component_url: named }
      : isCodeFile(named)
        ? await sendingOf(context)(named)
        : named.startsWith("sc_")
          ? { component_id: named }
          : { key: named };
    const { data } = await client.call("testSource", { body: { ...code, configured_props: given ?? {}, ...body } });
    return wholeAnswer(data, "hw deploy --test -o json");
  },
});

const testWorkflow = defineTool({
  name: "test_workflow",
  description:
    "Runs the steps of a workflow with an event and shows what each returns, exports and would send. With until_step it ends with that step, " +
    "to test one step; with file it runs the steps of a draft.",
  effect: "trial",
  operations: ["testWorkflow", "listMyWorkflows"],
  input: {
    workflow: name("Id or name of a workflow"),
    event,
    until_step: name("Name or id of the last step to run").optional(),
    file: name("Path of a draft in YAML whose steps run in place of the saved ones").optional(),
  },
  call: async (context, { workflow, event: value, until_step: step, file: path }) => {
    const { client } = context;
    const id = await idOf(client, "workflows", workflow);
    const draft = path === undefined ? {} : { steps: (await workflowFileBody(context, path))["steps"] };
    const given = { ...present({ until_step: step, event: value }), ...draft };
    const body = given as Operations["testWorkflow"]["body"]; // The API checks it.
    return wholeAnswer((await client.call("testWorkflow", { path: { workflow_id: id }, body })).data, `hw workflows test ${id} -o json`);
  },
});

export const building: readonly Tool[] = [validate];
export const trying: readonly Tool[] = [dryRun, testWorkflow];
