import type { Definition, Subcommand } from "../command.ts";
import { onePage } from "../kinds/kind.ts";
import { listSubcommand } from "../list-subcommand.ts";
import { listOptions, showList } from "../listing.ts";
import { idOf } from "../references.ts";
import { present } from "../values.ts";
import { invitationSubcommands } from "./org-invitations.ts";
import { confirmationText } from "./settings.ts";
import { memberColumns, organizationArgument as org, roleOf, roles } from "./org-members.ts";

const create: Subcommand = {
  name: "create",
  summary: "create an organization",
  arguments: [{ name: "<name>", description: "display name" }],
  options: [
    { flags: "--orgname <orgname>", description: "unique name; by default derived from the name" },
    { flags: "--email <address>", description: "contact address; by default yours" },
  ],
  examples: [{ command: 'hw orgs create "Acme Inc" --orgname acme', does: "Create an organization." }],
  operations: ["createOrganization"],
  run: async ({ client, out }, given) => {
    const body = { name: given.required("name"), ...present({ orgname: given.text("orgname"), email: given.text("email") }) };
    const answer = await client.call("createOrganization", { body });
    await out.done(answer, `organization ${answer.data.id} (${answer.data.orgname}) created`);
  },
};

const settings: Subcommand = {
  name: "settings",
  summary: "choose whether an organization gets mails about errors",
  arguments: [org],
  options: [{ flags: "--error-mails <on|off>", description: "mails about errors of its workflows and sources", choices: ["on", "off"] }],
  examples: [{ command: "hw orgs settings acme --error-mails off", does: "End mails about errors." }],
  operations: ["updateOrganization"],
  run: async ({ client, out }, given) => {
    const id = await idOf(client, "orgs", given.required("org"));
    const body = { error_mails: given.required("error-mails") === "on" };
    await out.done(
      await client.call("updateOrganization", { path: { org_id: id }, body }),
      `mails about errors of ${id} are ${body.error_mails ? "on" : "off"}`,
    );
  },
};

const confirmEmail: Subcommand = {
  name: "confirm-email",
  summary: "have a link mailed that confirms the address of an organization",
  arguments: [org],
  examples: [{ command: "hw orgs confirm-email acme", does: "Confirm its address, so that mails go there." }],
  operations: ["confirmOrganizationEmail"],
  run: async ({ client, out }, given) => {
    const id = await idOf(client, "orgs", given.required("org"));
    const answer = await client.call("confirmOrganizationEmail", { path: { org_id: id } });
    await out.done(answer, confirmationText(answer.data));
  },
};

const members: Subcommand = {
  name: "members",
  summary: "list the members of an organization",
  arguments: [org],
  options: listOptions,
  examples: [{ command: "hw orgs members acme", does: "List members with their roles." }],
  operations: ["listMembers"],
  run: async (context, given) => {
    const id = await idOf(context.client, "orgs", given.required("org"));
    await showList(context, given, {
      what: "members",
      columns: memberColumns,
      nameOf: ({ user_id: user }) => user,
      read: () => onePage(context.client.call("listMembers", { path: { org_id: id } })),
    });
  },
};

const setRole: Subcommand = {
  name: "set-role",
  summary: "change the role of a member",
  arguments: [
    org,
    { name: "<user>", description: "id of a user, u_…" },
    { name: "<role>", description: "admin or member", choices: roles },
  ],
  examples: [{ command: "hw orgs set-role acme u_0123456789ab member", does: "Change a role." }],
  operations: ["putMember"],
  run: async ({ client, out }, given) => {
    const id = await idOf(client, "orgs", given.required("org"));
    const path = { org_id: id, user_id: given.required("user") };
    const answer = await client.call("putMember", { path, body: { role: roleOf(given.required("role")) } });
    await out.done(answer, `${answer.data.username} is ${answer.data.role} of ${id}`);
  },
};

const remove: Subcommand = {
  name: "remove",
  summary: "remove a member, or leave an organization",
  arguments: [org, { name: "<user>", description: "id of a user, u_…" }],
  options: [{ flags: "-y, --yes", description: "remove without asking" }],
  examples: [{ command: "hw orgs remove acme u_0123456789ab --yes", does: "Remove a member." }],
  operations: ["removeMember"],
  run: async ({ client, out, terminal }, given) => {
    const path = { org_id: await idOf(client, "orgs", given.required("org")), user_id: given.required("user") };
    await terminal.confirm(`Remove ${path.user_id} from ${path.org_id}?`, given.flag("yes"));
    await client.call("removeMember", { path });
    await out.done({ data: { id: path.user_id } }, `${path.user_id} is no member of ${path.org_id} any more`);
  },
};

export const command: Definition = {
  description: "Manages organizations and their members. To act on behalf of one, use --org with any command.",
  examples: [{ command: "hw orgs list", does: "List your organizations." }],
  operations: ["getMe", "getOrganization", "deleteOrganization"],
  subcommands: [listSubcommand("orgs"), create, settings, confirmEmail, members, ...invitationSubcommands, setRole, remove],
};
