import type { Invitation } from "../../client/generated/operations.ts";
import type { Subcommand } from "../command.ts";
import { onePage } from "../kinds/kind.ts";
import { listOptions, showList } from "../listing.ts";
import type { Column } from "../output/table.ts";
import { idOf } from "../references.ts";
import { organizationArgument, roleOf, roles } from "./org-members.ts";

const invitation = { name: "<invitation>", description: "id of an invitation, inv_…" } as const;

const invitee = ({ user_id: id, username, email }: Invitation): string => id ?? username ?? email ?? "";
const columns: readonly Column<Invitation>[] = [
  { header: "ID", value: ({ id }) => id, isWhole: true },
  { header: "ORGANIZATION", value: ({ org_name: name }) => name },
  { header: "INVITED", value: invitee },
  { header: "ROLE", value: ({ role }) => role },
];

const invite: Subcommand = {
  name: "invite",
  summary: "invite a user by id, username or email address",
  arguments: [organizationArgument, { name: "<user>", description: "u_…, a username or an email address" }],
  options: [{ flags: "--role <role>", description: "admins manage members", choices: roles }],
  examples: [{ command: "hw orgs invite acme ada@example.com --role admin", does: "Invite an admin." }],
  operations: ["inviteMember"],
  run: async ({ client, out }, given) => {
    const id = await idOf(client, "orgs", given.required("org"));
    const user = given.required("user");
    const who = user.includes("@") ? { email: user } : user.startsWith("u_") ? { user_id: user } : { username: user };
    const role = given.text("role");
    const body = { ...who, ...(role === undefined ? {} : { role: roleOf(role) }) };
    const answer = await client.call("inviteMember", { path: { org_id: id }, body });
    const { data } = answer;
    await out.done(
      answer,
      `${invitee(data)} is invited to ${id} as ${data.role}: if there is such a user, they accept with \`hw orgs accept ${data.id}\``,
    );
  },
};

const invitations: Subcommand = {
  name: "invitations",
  summary: "list invitations to you, or those of an organization",
  arguments: [{ ...organizationArgument, name: "[org]" }],
  options: listOptions,
  examples: [
    { command: "hw orgs invitations", does: "List invitations to you." },
    { command: "hw orgs invitations acme", does: "List the open invitations of an organization." },
  ],
  operations: ["listMyInvitations", "listInvitations"],
  run: async (context, given) => {
    const { client } = context;
    const org = given.text("org");
    const id = org === undefined ? undefined : await idOf(client, "orgs", org);
    await showList(context, given, {
      what: "invitations",
      columns,
      nameOf: ({ id: each }) => each,
      read: () =>
        onePage(id === undefined ? client.call("listMyInvitations", {}) : client.call("listInvitations", { path: { org_id: id } })),
    });
  },
};

const accept: Subcommand = {
  name: "accept",
  summary: "accept an invitation",
  arguments: [invitation],
  examples: [{ command: "hw orgs accept inv_0123456789ab", does: "Become a member.", isInert: true }],
  operations: ["acceptInvitation"],
  run: async ({ client, out }, given) => {
    const answer = await client.call("acceptInvitation", { path: { id: given.required("invitation") } });
    await out.done(answer, `you are ${answer.data.role} of ${answer.data.org_id}`);
  },
};

const decline: Subcommand = {
  name: "decline",
  summary: "decline an invitation",
  arguments: [invitation],
  examples: [{ command: "hw orgs decline inv_0123456789ab", does: "Decline an invitation.", isInert: true }],
  operations: ["declineInvitation"],
  run: async ({ client, out }, given) => {
    const id = given.required("invitation");
    await client.call("declineInvitation", { path: { id } });
    await out.done({ data: { id } }, `invitation ${id} declined`);
  },
};

const withdraw: Subcommand = {
  name: "withdraw",
  summary: "withdraw an invitation",
  arguments: [organizationArgument, invitation],
  examples: [{ command: "hw orgs withdraw acme inv_0123456789ab", does: "Withdraw an invitation.", isInert: true }],
  operations: ["withdrawInvitation"],
  run: async ({ client, out }, given) => {
    const path = { org_id: await idOf(client, "orgs", given.required("org")), invitation_id: given.required("invitation") };
    await client.call("withdrawInvitation", { path });
    await out.done({ data: { id: path.invitation_id } }, `invitation ${path.invitation_id} withdrawn`);
  },
};

export const invitationSubcommands: readonly Subcommand[] = [invite, invitations, accept, decline, withdraw];
