import { z } from "zod";
import type { Client } from "../../../client/client.ts";
import type { Prop } from "../../../client/generated/operations.ts";
import { componentNamed } from "../../component/named.ts";
import { stepsWithin } from "../../component/workflow-file.ts";
import { Failure, exitCodes, notFound, usageFailure } from "../../failure.ts";
import { definitionOf } from "../../props/definition.ts";
import { optionsOf, propsOf, targetOf, type PropTarget } from "../../props/target.ts";
import { idOf } from "../../references.ts";
import { present } from "../../values.ts";
import { wholeAnswer } from "./answer.ts";
import { build, isCodeFile } from "./files.ts";
import { defineTool, fields, name, text, type Tool } from "./tool.ts";

const values = fields("Values by name of the prop").optional();

const props = defineTool({
  name: "props",
  description:
    "Lists what must be configured: the props of a component, a file, a source or a step, with types, defaults, choices and values. With `props`, " +
    "which needs --write, the code also computes the props that these values add.",
  effect: "trial",
  readsWithoutWrite: true,
  operations: [
    ...(["saveComponent", "getComponent", "getPublishedComponent", "getSource", "listMySources", "getWorkflow"] as const),
    ...(["listComponentProps", "listSourceProps", "listStepProps"] as const),
  ],
  input: {
    of: name("A file of code, key or id of a component, id or name of a source, or a step as p_…/step; no address"),
    props: values,
  },
  call: async (context, { of, props: given }) => {
    const { client, mayWrite } = context;
    if (given !== undefined && !mayWrite)
      throw usageFailure("the argument props needs --write: the code of the component computes what they add", "leave out props");
    if (isCodeFile(of)) {
      if (given !== undefined) throw usageFailure("props are for what is saved: a file has only the props in its code", "leave out props");
      return answerOf({ all: (await build(context, of)).data.configurable_props, values: {} });
    }
    const found = await targetNamed(client, of);
    const stored = await storedProps(client, found);
    if (given === undefined) return answerOf(stored);
    // Of a step, the API adds the values that are saved itself.
    const before = found.kind === "source" ? stored.values : {};
    const { data } = await propsOf(client, found, { configured_props: { ...before, ...given } });
    return answerOf({ ...stored, all: data.configurable_props });
  },
});

interface StoredProps {
  readonly all: readonly Prop[];
  /** Without secret ones. */
  readonly values: Readonly<Record<string, unknown>>;
}

const answerOf = ({ all, values: configured }: StoredProps): string =>
  wholeAnswer({ configurable_props: all.map(shownProp), configured_props: configured }, "hw props");

/** The props that are stored, without running code: also those that the configured values have added. */
async function storedProps(client: Client, target: PropTarget): Promise<StoredProps> {
  if (target.kind === "component") return { all: (await componentNamed(client, target.path.key)).props, values: {} };
  if (target.kind === "step") return propsOfStep(client, target.path);
  const { data } = await client.call("getSource", { path: target.path });
  const { component_id: component, configurable_props: all, configured_props: configured } = data;
  if (all !== undefined) return { all, values: configured };
  if (component === null) throw notFound(`source ${data.id} has no component yet`, "try again in a moment");
  return { all: (await componentNamed(client, component)).props, values: configured };
}

async function propsOfStep(client: Client, { workflow_id, step: named }: { readonly workflow_id: string; readonly step: string }) {
  const { steps } = (await client.call("getWorkflow", { path: { workflow_id } })).data;
  const step = stepsWithin(steps).find(({ name: label, id }) => label === named || id === named);
  if (step === undefined) throw notFound(`workflow ${workflow_id} has no step "${named}"`, "describe shows its steps");
  const { configurable_props: all, props: configured } = step as (typeof steps)[number]; // The API answers inner steps in the same form.
  return { all, values: configured };
}

function shownProp(prop: Prop): object {
  const definition = definitionOf(prop);
  const { description, app, hasRemoteOptions, options: choices, default: byDefault } = definition;
  return {
    name: prop.name,
    type: prop.type,
    description,
    app,
    required: (!definition.isOptional && !definition.needsNoValue && byDefault === undefined) || undefined,
    secret: definition.isSecret || undefined,
    reloads: definition.reloads || undefined,
    default: byDefault,
    options: hasRemoteOptions ? "the tool options lists them, with --write" : choices,
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
export async function sourceNamed(client: Client, named: string): Promise<string | undefined> {
  try {
    return await idOf(client, "sources", named);
  } catch (error) {
    if (error instanceof Failure && error.exitCode === exitCodes.notFound) return undefined;
    throw error;
  }
}

const options = defineTool({
  name: "options",
  description:
    "Lists the choices of a prop whose options are a function, for the values chosen so far. Of a source it has the accounts and secrets.",
  effect: "trial",
  operations: ["listComponentOptions", "listSourceOptions", "listStepOptions", "listMySources"],
  input: {
    of: name("Key or id of a component, id or name of a source, or a step as p_…/step; no file"),
    prop: name("Name of the prop"),
    props: values,
    query: text("What a person types to search").optional(),
    page: z.number().int().min(0).max(10_000).optional().describe("Number of the page; the first is 0"),
    context: z.unknown().optional().describe("`context` of the previous page"),
  },
  call: async ({ client }, { of, prop, props: given, query, page, context }) => {
    if (isCodeFile(of)) throw usageFailure(`${of} is a file: options are those of what is saved`, "deploy it, then name the source");
    const body = { prop_name: prop, ...present({ configured_props: given, query, page, prev_context: context }) };
    return wholeAnswer((await optionsOf(client, await targetNamed(client, of), body)).data, "hw components options");
  },
});

export const configuring: readonly Tool[] = [props, options];
