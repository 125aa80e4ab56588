import type { AuditEntry } from "../../client/generated/operations.ts";
import type { Definition, OptionDefinition } from "../command.ts";
import type { Given } from "../given.ts";
import { listOptions, showList, type Listing } from "../listing.ts";
import { organizationOf } from "../organization.ts";
import { dateTime } from "../output/time.ts";
import { optionalTime } from "../times.ts";

const defaultEntries = 20;
const outcomes = ["ok", "failed"] as const;

/** Options of lists of changes. */
export const auditOptions: readonly OptionDefinition[] = [
  { flags: "--kind <kind>", description: "only changes of this kind, such as Source" },
  { flags: "--action <action>", description: "only changes by this action, such as create, update or delete" },
  { flags: "--actor <actor>", description: "only changes by this user or key" },
  { flags: "--resource <id>", description: "only changes of this resource" },
  { flags: "--name <text>", description: "only changes of resources with this text in their name" },
  { flags: "--outcome <outcome>", description: "only changes by requests that succeeded, or that returned an error", choices: outcomes },
  { flags: "--since <time>", description: "changes from this time on: ISO 8601, an age such as 2h, or epoch seconds" },
  { flags: "--until <time>", description: "changes until this time" },
  ...listOptions,
];

/** Those that are given. */
export function auditFilters(given: Given) {
  const timeOf = (option: "since" | "until") => optionalTime(given.text(option), `--${option}`, "past")?.toString();
  return {
    kind: given.text("kind"),
    action: given.text("action"),
    actor: given.text("actor"),
    resource_id: given.text("resource"),
    name: given.text("name"),
    outcome: outcomes.find((each) => each === given.text("outcome")),
    since: timeOf("since"),
    until: timeOf("until"),
  };
}

export const auditListing: Omit<Listing<AuditEntry>, "read"> = {
  what: "changes",
  defaultLimit: defaultEntries,
  columns: [
    { header: "AT", value: ({ at }) => dateTime(at * 1000), isWhole: true },
    { header: "ACTION", value: ({ action }) => action },
    { header: "KIND", value: ({ kind: of }) => of },
    { header: "ID", value: ({ resource_id: id, resource_name: name }) => id ?? name ?? "-" },
    { header: "BY", value: ({ actor: by }) => by.key_name ?? by.kind },
    { header: "FROM", value: ({ actor: by }) => by.address ?? "-" },
    { header: "ERROR", value: ({ error }) => error ?? "-", isWide: true },
  ],
};

export const command: Definition = {
  description:
    "Lists changes of your resources, account and keys, newest first: who changed what, from which address. With an organization, " +
    "of which you must be an admin, lists those of the organization. Changes by kubectl, Argo CD and other clients of the Kubernetes API are " +
    "in the audit log of the cluster (docs/operations.md).",
  arguments: [{ name: "[organization]", description: "id or name of an organization; by default that of --org" }],
  options: auditOptions,
  examples: [
    { command: "hw audit --kind Source", does: "Show the last changes of sources." },
    { command: "hw audit --action delete --since 7d", does: "Show what was deleted in the last week." },
  ],
  operations: ["listMyAuditLog", "listAuditLog", "getMe"],
  run: async (context, given) => {
    const named = given.text("organization");
    const organization = named === undefined ? context.profile.org : await organizationOf(context.client, named);
    const filters = auditFilters(given);
    await showList(context, given, {
      ...auditListing,
      read: (page) =>
        organization === undefined
          ? context.client.call("listMyAuditLog", { query: { ...page, ...filters } })
          : context.client.call("listAuditLog", { path: { org_id: organization }, query: { ...page, ...filters } }),
    });
  },
};
