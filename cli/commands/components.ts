import type { ListedComponent, PublishedVersion } from "../../client/generated/operations.ts";
import type { Definition, OptionDefinition, Subcommand } from "../command.ts";
import type { Given } from "../given.ts";
import { onePage } from "../kinds/kind.ts";
import { listSubcommand } from "../list-subcommand.ts";
import { listOptions, showList } from "../listing.ts";
import { fieldLines } from "../output/fields.ts";
import type { Column } from "../output/table.ts";
import { age } from "../output/time.ts";
import { optionsOf, propsOf, targetOf } from "../props/target.ts";
import { publishing } from "./published-components.ts";
import { jsonOf, present, recordOf } from "../values.ts";

const component = { name: "<component>", description: "id or key of a component", completes: "component" } as const;
const versionOption: OptionDefinition = { flags: "--version <version>", description: "a version other than the newest, such as 1.2.0" };
const propsOption: OptionDefinition = { flags: "--props <json>", description: "values chosen so far, as JSON or @file" };

const columns: readonly Column<ListedComponent>[] = [
  { header: "ID", value: ({ id }) => id, isWhole: true },
  { header: "KEY", value: ({ key }) => key ?? "-" },
  { header: "NAME", value: ({ name }) => name },
  { header: "VERSION", value: ({ version }) => version ?? "-" },
  { header: "TYPE", value: ({ type }) => type, isWide: true },
  { header: "AGE", value: ({ created_at: at }) => age(at) },
];

const publishedColumns: readonly Column<PublishedVersion>[] = [
  ...columns,
  { header: "DEPRECATED", value: ({ deprecated }) => deprecated ?? "" },
];

const show: Subcommand = {
  name: "show",
  aliases: ["get"],
  summary: "show a component, or print its code",
  arguments: [component],
  options: [
    versionOption,
    { flags: "--code", description: "print the code only" },
    { flags: "--published", description: "the registry's, not yours" },
  ],
  examples: [{ command: "hw components show headwater-webhook --published", does: "Show a component of the registry." }],
  operations: ["getComponent", "getPublishedComponent"],
  run: async ({ client, out }, given) => {
    const args = { path: { key: given.required("component") }, query: present({ version: given.text("version") }) };
    const answer = given.flag("published") ? await client.call("getPublishedComponent", args) : await client.call("getComponent", args);
    for (const { message } of answer.warnings ?? []) out.note(`warning: ${message}`);
    if (given.flag("code")) return out.exact(`${answer.data.code.trimEnd()}\n`);
    await out.document(answer, () => fieldLines({ ...answer.data, code: `${answer.data.code.length} characters, --code prints them` }));
  },
};

const versions: Subcommand = {
  name: "versions",
  summary: "list saved components with the same key",
  arguments: [component],
  options: [...listOptions, { flags: "--published", description: "the registry's, not yours" }],
  examples: [{ command: "hw components versions hello", does: "List versions of a component." }],
  operations: ["listVersions", "listPublishedVersions"],
  run: (context, given) => {
    const { client } = context;
    const path = { key: given.required("component") };
    if (!given.flag("published"))
      return showList(context, given, { what: "versions", columns, read: (query) => client.call("listVersions", { path, query }) });
    const read = () => onePage(client.call("listPublishedVersions", { path }));
    return showList(context, given, { what: "versions", columns: publishedColumns, read });
  },
};

const search: Subcommand = {
  name: "search",
  summary: "find components, including those of the registry",
  arguments: [{ name: "[text]", description: "words to search for" }],
  options: [
    ...listOptions,
    { flags: "--app <app>", description: "only components of this app" },
    { flags: "--type <type>", description: "only sources or actions", choices: ["source", "action"] },
    { flags: "--keys", description: "only keys, in the form that programs of the hosted service expect" },
  ],
  examples: [{ command: "hw components search timer", does: "Find components." }],
  operations: ["searchComponents", "searchComponentDetails"],
  run: async (context, given) => {
    const { client, out } = context;
    const query = present({ query: given.text("text"), app: given.text("app") });
    if (given.flag("keys")) {
      const answer = await client.call("searchComponents", { query });
      return out.document(answer, () => [...answer.sources, ...answer.actions]);
    }
    const type = (["source", "action"] as const).find((each) => each === given.text("type"));
    await showList(context, given, {
      what: "components",
      columns,
      nameOf: ({ id, key }) => key ?? id,
      read: (page) => client.call("searchComponentDetails", { query: { ...query, ...page, ...(type === undefined ? {} : { type }) } }),
    });
  },
};

const options: Subcommand = {
  name: "options",
  summary: "list the choices of a prop whose options are a function",
  description: "Lists the choices of a prop whose options are a function: of a component, a source, or a step of a workflow.",
  arguments: [
    { name: "<of>", description: "a component, a source dc_…, or a step as p_…/step" },
    { name: "<prop>", description: "name of the prop" },
  ],
  options: [
    propsOption,
    { flags: "--page <number>", description: "number of the page; the first is 0", value: "count" },
    { flags: "--context <json>", description: "the context that the previous page returned" },
    { flags: "--search <text>", description: "what a person typed to search" },
  ],
  examples: [{ command: "hw components options dc_0123456789ab city", does: "List choices of a prop." }],
  operations: ["listComponentOptions", "listSourceOptions", "listStepOptions"],
  run: async ({ client, out }, given) => {
    const [context, search] = [given.text("context"), given.text("search")];
    const more = {
      page: given.count("page"),
      query: search,
      prev_context: context === undefined ? undefined : await jsonOf(context, "--context"),
    };
    const body = { prop_name: given.required("prop"), ...(await propsBody(given)), ...present(more) };
    const answer = await optionsOf(client, targetOf(given.required("of")), body);
    await out.document(answer, () => answer.data.options.map((option) => JSON.stringify(option)));
  },
};

const props: Subcommand = {
  name: "props",
  summary: "list all props for the values chosen so far",
  arguments: [{ name: "<of>", description: "a component, a source dc_…, or a step as p_…/step" }],
  options: [propsOption],
  examples: [{ command: "hw components props dc_0123456789ab", does: "List props, with those that depend on values." }],
  operations: ["listComponentProps", "listSourceProps", "listStepProps"],
  run: async ({ client, out }, given) => {
    const body = await propsBody(given);
    const answer = await propsOf(client, targetOf(given.required("of")), body);
    await out.document(answer, () => answer.data.configurable_props.flatMap((prop) => fieldLines(prop)));
  },
};

async function propsBody(given: Given): Promise<{ readonly configured_props?: Readonly<Record<string, unknown>> }> {
  const text = given.text("props");
  return text === undefined ? {} : { configured_props: recordOf(await jsonOf(text, "--props"), "--props") };
}

const registry: Subcommand = {
  name: "registry",
  summary: "list the components of the registry",
  options: listOptions,
  examples: [{ command: "hw components registry", does: "List the components that come with Headwater." }],
  operations: ["listRegistry"],
  run: (context, given) =>
    showList(context, given, {
      what: "components",
      columns,
      nameOf: ({ key }) => key ?? "",
      read: () => onePage(context.client.call("listRegistry", {})),
    }),
};

export const command: Definition = {
  description: "Manages saved components, and finds those of the registry.",
  examples: [{ command: "hw components list", does: "List your saved components." }],
  operations: ["deleteComponent"],
  subcommands: [listSubcommand("components"), show, versions, search, registry, ...publishing, options, props],
};
