import type { Namespace } from "../../client/generated/operations.ts";
import type { Definition, Subcommand } from "../command.ts";
import { onePage } from "../kinds/kind.ts";
import { listOptions, showList } from "../listing.ts";
import type { Column } from "../output/table.ts";

const namespace = { name: "<namespace>", description: "name of a namespace" } as const;

const yesNo = (value: boolean): string => (value ? "yes" : "no");
const columns: readonly Column<Namespace>[] = [
  { header: "NAME", value: ({ name }) => name, isWhole: true },
  { header: "CONFIRMED", value: ({ confirmed_at: at }) => yesNo(at !== null) },
  { header: "LABELLED", value: ({ labelled }) => yesNo(labelled) },
  { header: "IN USE", value: ({ in_use: inUse }) => yesNo(inUse) },
];

const list: Subcommand = {
  name: "list",
  isDefault: true,
  summary: "list namespaces that are labelled with you, or that you have confirmed",
  options: listOptions,
  examples: [{ command: "hw namespaces list", does: "List your namespaces." }],
  operations: ["listNamespaces"],
  run: async (context, given) => {
    await showList(context, given, {
      what: "namespaces",
      columns,
      nameOf: ({ name }) => name,
      read: () => onePage(context.client.call("listNamespaces", {})),
    });
  },
};

/** What a confirmed namespace still lacks. */
export function confirmedLine({ name, owner, labelled, in_use: inUse }: Namespace): string {
  if (inUse) return `namespace ${name} is confirmed, and has the resources of ${owner}`;
  const missing = labelled ? `${owner} has another one in use` : `label it headwater.dev/owner=${owner}`;
  return `namespace ${name} is confirmed for ${owner}, and not in use: ${missing}`;
}

const confirm: Subcommand = {
  name: "confirm",
  summary: "confirm that a namespace is yours",
  arguments: [namespace],
  examples: [{ command: "hw namespaces confirm team-a", does: "Let the namespace have your resources and their secrets.", isInert: true }],
  operations: ["confirmNamespace"],
  run: async ({ client, out }, given) => {
    const answer = await client.call("confirmNamespace", { body: { name: given.required("namespace") } });
    await out.done(answer, confirmedLine(answer.data));
  },
};

const withdraw: Subcommand = {
  name: "withdraw",
  summary: "withdraw the confirmation of a namespace",
  arguments: [namespace],
  options: [{ flags: "-y, --yes", description: "withdraw without asking" }],
  examples: [{ command: "hw namespaces withdraw team-a --yes", does: "Take what is yours from the namespace.", isInert: true }],
  operations: ["withdrawNamespace"],
  run: async ({ client, out, terminal }, given) => {
    const name = given.required("namespace");
    await terminal.confirm(`Withdraw namespace ${name}? Its resources then wait.`, given.flag("yes"));
    await client.call("withdrawNamespace", { path: { name } });
    await out.done({ data: { name } }, `namespace ${name} withdrawn`);
  },
};

export const command: Definition = {
  description:
    "In a cluster: which namespaces may have your resources and their secrets. The label headwater.dev/owner of a namespace has no effect until you confirm the namespace.",
  examples: [{ command: "hw namespaces", does: "List your namespaces." }],
  operations: [],
  subcommands: [list, confirm, withdraw],
};
