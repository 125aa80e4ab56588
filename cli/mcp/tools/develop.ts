import { z } from "zod";
import type { Client } from "../../../client/client.ts";
import type { Operations, Prop } from "../../../client/generated/operations.ts";
import { componentNamed } from "../../component/named.ts";
import { buildStep, codedSteps } from "../../component/workflow-file.ts";
import { Failure, exitCodes, usageFailure } from "../../failure.ts";
import { definitionOf } from "../../props/definition.ts";
import { optionsOf, propsOf, targetOf, type PropTarget } from "../../props/target.ts";
import { idOf } from "../../references.ts";
import { lastEventOf } from "../../run-source.ts";
import { present } from "../../values.ts";
import { wholeAnswer } from "./answer.ts";
import { isAddress, isCodeFile, isWorkflowFile, namedComponent, sendingOf, workflowFileBody } from "./files.ts";
import { defineTool, event, fields, flag, name, text, type Tool, type ToolContext } from "./tool.ts";

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

const build = async (context: ToolContext, path: string) =>
  context.client.call("saveComponent", { query: { dry_run: true, exclude: "code" }, body: await sendingOf(context)(path) });

async function validateSteps(context: ToolContext, path: string): Promise<string> {
  const { steps } = await workflowFileBody(context, path);
  const built: object[] = [];
  for (const step of codedSteps(steps)) {
    const { warnings } = await buildStep(context.client, step);
    built.push({ step: step.name, warnings });
  }
  return wholeAnswer({ valid: true, built, note: "deploy checks the rest of the workflow" }, "hw validate");
}

const target = name("A component by id or key, a source, or a step as p_…/step");

const props = defineTool({
  name: "props",
  description:
    "Lists what must be configured: the props of a component, a file, a source or a step, with types, defaults, choices and values.",
  effect: "read",
  operations: [
    ...(["saveComponent", "getComponent", "getPublishedComponent", "getSource", "listMySources"] as const),
    ...(["listComponentProps", "listSourceProps", "listStepProps"] as const),
  ],
  input: { of: target.describe("A file, a component by id or key, a source, or a step as p_…/step"), props: values },
  call: async (context, { of, props: given }) => {
    const { client } = context;
    const answer = (all: readonly Prop[], values: object = {}): string =>
      wholeAnswer({ configurable_props: all.map(shownProp), configured_props: values }, "hw props");
    if (isCodeFile(of)) return answer((await build(context, of)).data.configurable_props);
    const found = await targetNamed(client, of);
    if (found.kind === "component") {
      const { props: all } = await componentNamed(client, of);
      const reloads = given !== undefined && all.some((prop) => definitionOf(prop).reloads);
      return answer(reloads ? await propsFor(client, found, given) : all);
    }
    const before = found.kind === "source" ? (await client.call("getSource", { path: found.path })).data.configured_props : {};
    return answer(await propsFor(client, found, { ...before, ...given }), before);
  },
});

const propsFor = async (client: Client, found: PropTarget, configured_props: Readonly<Record<string, unknown>>): Promise<readonly Prop[]> =>
  (await propsOf(client, found, { configured_props })).data.configurable_props;

function shownProp(prop: Prop): object {
  const definition = definitionOf(prop);
  const { description, app, hasRemoteOptions, options, default: byDefault } = definition;
  return {
    name: prop.name,
    type: prop.type,
    description,
    app,
    required: (!definition.isOptional && !definition.needsNoValue && byDefault === undefined) || undefined,
    secret: definition.isSecret || undefined,
    reloads: definition.reloads || undefined,
    default: byDefault,
    options: hasRemoteOptions ? "the tool options lists them" : options,
  };
}

/** A source may be named. */
async function targetNamed(client: Client, named: string): Promise<PropTarget> {
  const found = targetOf(named);
  if (found.kind !== "component" || named.startsWith("sc_")) return found;
  const id = await sourceNamed(client, named);
  return id === undefined ? found : { kind: "source", path: { id } };
}

/** The id of a source; undefined: none has the name. */
async function sourceNamed(client: Client, named: string): Promise<string | undefined> {
  try {
    return await idOf(client, "sources", named);
  } catch (error) {
    if (error instanceof Failure && error.exitCode === exitCodes.notFound) return undefined;
    throw error;
  }
}

const options = defineTool({
  name: "options",
  description: "Lists the choices of a prop whose options are a function, for the values chosen so far.",
  effect: "read",
  operations: ["listComponentOptions", "listSourceOptions", "listStepOptions", "listMySources"],
  input: {
    of: target,
    prop: name("Name of the prop"),
    props: values,
    query: text("What a person types to search").optional(),
    page: z.number().int().min(0).max(10_000).optional().describe("Number of the page; the first is 0"),
    context: z.unknown().optional().describe("`context` of the previous page"),
  },
  call: async ({ client }, { of, prop, props: given, query, page, context }) => {
    const body = { prop_name: prop, ...present({ configured_props: given, query, page, prev_context: context }) };
    return wholeAnswer((await optionsOf(client, await targetNamed(client, of), body)).data, "hw components options");
  },
});

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

export const developing: readonly Tool[] = [validate, props, options];
export const trying: readonly Tool[] = [dryRun, testWorkflow];
