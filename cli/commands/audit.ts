import type { Definition } from "../command.ts";
import { listOptions, showList } from "../listing.ts";
import { organizationOf } from "../organization.ts";
import { dateTime } from "../output/time.ts";

const defaultEntries = 20;

export const command: Definition = {
  description:
    "Lists changes of your resources, account and keys, newest first: who changed what, from which address. With an organization, " +
    "of which you must be an admin, lists those of the organization. Changes by kubectl, Argo CD and other clients of the Kubernetes API are " +
    "in the audit log of the cluster (docs/operations.md).",
  arguments: [{ name: "[organization]", description: "id or name of an organization; by default that of --org" }],
  options: [
    { flags: "--kind <kind>", description: "only changes of this kind, such as Source" },
    { flags: "--actor <actor>", description: "only changes by this user or key" },
    { flags: "--resource <id>", description: "only changes of this resource" },
    ...listOptions,
  ],
  examples: [{ command: "hw audit --kind Source", does: "Show the last changes of sources." }],
  operations: ["listMyAuditLog", "listAuditLog", "getMe"],
  run: async (context, given) => {
    const named = given.text("organization");
    const organization = named === undefined ? context.profile.org : await organizationOf(context.client, named);
    const [kind, actor, resource] = [given.text("kind"), given.text("actor"), given.text("resource")];
    const filters = {
      ...(kind === undefined ? {} : { kind }),
      ...(actor === undefined ? {} : { actor }),
      ...(resource === undefined ? {} : { resource_id: resource }),
    };
    await showList(context, given, {
      what: "changes",
      read: (page) =>
        organization === undefined
          ? context.client.call("listMyAuditLog", { query: { ...page, ...filters } })
          : context.client.call("listAuditLog", { path: { org_id: organization }, query: { ...page, ...filters } }),
      defaultLimit: defaultEntries,
      columns: [
        { header: "AT", value: ({ at }) => dateTime(at * 1000), isWhole: true },
        { header: "ACTION", value: ({ action }) => action },
        { header: "KIND", value: ({ kind: of }) => of },
        { header: "ID", value: ({ resource_id: id, resource_name: name }) => id ?? name ?? "-" },
        { header: "BY", value: ({ actor: by }) => by.key_name ?? by.kind },
        { header: "FROM", value: ({ actor: by }) => by.address ?? "-" },
      ],
    });
  },
};
