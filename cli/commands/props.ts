import type { Prop } from "../../client/generated/operations.ts";
import type { Definition } from "../command.ts";
import { isFile } from "../component/files.ts";
import { componentArgument, findDeployable } from "../component/named.ts";
import { rootOption, sendingOf } from "../component/sending.ts";
import { explained } from "../component/rejection.ts";
import type { Context } from "../context.ts";
import type { Given } from "../given.ts";
import type { Column } from "../output/table.ts";
import { choiceOf, definitionOf } from "../props/definition.ts";
import { givenValues, propOptions, typedValues, type GivenValues } from "../props/given-values.ts";
import { readerOfComponent, readerOfSource, type PropReader } from "../props/reader.ts";
import { idOf } from "../references.ts";

interface Shown {
  readonly prop: Prop;
  readonly value: unknown;
}

const columns: readonly Column<Shown>[] = [
  { header: "PROP", value: ({ prop }) => prop.name, isWhole: true },
  { header: "TYPE", value: ({ prop }) => prop.type },
  { header: "NEEDED", value: ({ prop }) => needOf(prop) },
  { header: "VALUE", value: ({ prop, value }) => (definitionOf(prop).isSecret ? "(secret)" : (JSON.stringify(value) ?? "-")) },
  { header: "CHOICES", value: ({ prop }) => choicesOf(prop), isWide: true },
  { header: "DESCRIPTION", value: ({ prop }) => definitionOf(prop).description?.split("\n")[0] ?? "" },
];

function needOf(prop: Prop): string {
  const { needsNoValue, isOptional, default: byDefault } = definitionOf(prop);
  if (needsNoValue) return "no";
  return isOptional ? "optional" : byDefault === undefined ? "yes" : "default";
}

function choicesOf(prop: Prop): string {
  const { options, hasRemoteOptions } = definitionOf(prop);
  return hasRemoteOptions ? "hw components options lists them" : options.map((option) => choiceOf(option).label).join(", ");
}

export const command: Definition = {
  description: "Lists the props of a component, or those of a source with their values; --prop shows which props a value adds.",
  arguments: [{ ...componentArgument, description: `${componentArgument.description}; or a source` }],
  options: [...propOptions, rootOption],
  examples: [
    { command: "hw props hello.mjs", does: "List what a file needs." },
    { command: "hw props hello", does: "List the props of a source." },
  ],
  operations: ["getSource", "listSourceProps", "saveComponent", "getComponent", "getPublishedComponent", "listComponentProps"],
  run: async (context, given) => {
    const { reader, props, values: before } = await ownerOf(context, given);
    const { all, values } = await reloaded(reader, props, await givenValues(given), before);
    const shown = all.map((prop) => ({ prop, value: values[prop.name] ?? definitionOf(prop).default }));
    const { out } = context;
    if (out.format === "json" || out.format === "yaml") return out.document({ data: { configurable_props: all } }, () => []);
    await out.list({ data: shown }, columns, ({ prop }) => prop.name);
  },
};

interface Owner {
  readonly reader: PropReader;
  readonly props: readonly Prop[];
  readonly values: Readonly<Record<string, unknown>>;
}

async function ownerOf(context: Context, given: Given): Promise<Owner> {
  const { client, terminal } = context;
  const text = given.required("component");
  const isComponent = /^https?:\/\/|^sc_|\//.test(text) || (await isFile(text));
  const id = isComponent ? undefined : await idOf(client, "sources", text).catch(() => undefined);
  if (id === undefined) {
    const found = await terminal.progress("Building", () => explained(() => findDeployable(client, text, sendingOf(context, given))));
    return { reader: readerOfComponent(client, found.key), props: found.props, values: {} };
  }
  const [{ data: source }, reader] = [await client.call("getSource", { path: { id } }), readerOfSource(client, id)];
  return { reader, props: await reader.props(source.configured_props), values: source.configured_props };
}

/** With the props that the given values add. */
async function reloaded(
  reader: PropReader,
  props: readonly Prop[],
  given: GivenValues,
  before: Readonly<Record<string, unknown>>,
): Promise<{ all: readonly Prop[]; values: Readonly<Record<string, unknown>> }> {
  const values = { ...before, ...typedValues(given, props.map(definitionOf)) };
  const reloads = props.some((prop) => definitionOf(prop).reloads) && Object.keys(values).length > 0;
  return { all: reloads ? await reader.props(values) : props, values };
}
