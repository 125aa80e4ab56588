import type { Connector, PackageComponent } from "../../client/generated/operations.ts";
import type { Definition, Subcommand } from "../command.ts";
import { onePage } from "../kinds/kind.ts";
import { listOptions, showList } from "../listing.ts";
import type { Column } from "../output/table.ts";
import { npmPackage } from "../component/npm-package.ts";
import { present } from "../values.ts";

const componentColumns: readonly Column<PackageComponent>[] = [
  { header: "ADDRESS", value: ({ component_url: url }) => url, isWhole: true },
  { header: "TYPE", value: ({ type }) => type },
  { header: "NAME", value: ({ name }) => name },
  { header: "TRIGGER", value: ({ trigger }) => trigger ?? "-", isWide: true },
  { header: "PROBLEM", value: ({ problem }) => problem ?? "", isWide: true },
];

const connectorColumns: readonly Column<Connector>[] = [
  { header: "PACKAGE", value: (each) => `npm:${each.package}`, isWhole: true },
  { header: "NAME", value: ({ name }) => name },
  { header: "TRIGGERS", value: ({ triggers }) => String(triggers) },
  { header: "ACTIONS", value: ({ actions }) => String(actions) },
  { header: "AUTH", value: ({ auth }) => auth.join(", ") || "-" },
  { header: "MATCHES", value: ({ matches }) => matches.map(({ name }) => name).join(", "), isWide: true },
];

const list: Subcommand = {
  name: "list",
  aliases: ["ls"],
  summary: "list the components of a package of npm",
  arguments: [{ name: "<package>", description: "a package as npm:<package>, npm:<package>@<version>" }],
  options: listOptions,
  examples: [
    { command: "hw connectors list npm:@activepieces/piece-slack", does: "List triggers and actions of a package.", isInert: true },
  ],
  operations: ["listPackageComponents"],
  run: (context, given) => {
    const { name, version } = npmPackage(given.required("package"));
    const read = () => onePage(context.client.call("listPackageComponents", { path: { name }, query: present({ version }) }));
    return showList(context, given, { what: "components", columns: componentColumns, nameOf: ({ component_url: url }) => url, read });
  },
};

const search: Subcommand = {
  name: "search",
  summary: "search the connectors that are known to load",
  arguments: [{ name: "[words...]", description: "words of a name, a trigger or an action" }],
  options: listOptions,
  examples: [{ command: "hw connectors search new message", does: "Find connectors by what they do." }],
  operations: ["searchConnectors"],
  run: (context, given) => {
    const q = given.list("words").join(" ");
    const read = () => onePage(context.client.call("searchConnectors", { query: q === "" ? {} : { q } }));
    return showList(context, given, { what: "connectors", columns: connectorColumns, nameOf: (each) => `npm:${each.package}`, read });
  },
};

export const command: Definition = {
  description: "Finds connectors in packages of npm. `hw deploy` deploys a trigger by its address; actions are steps of workflows.",
  examples: [],
  operations: [],
  subcommands: [list, search],
};
