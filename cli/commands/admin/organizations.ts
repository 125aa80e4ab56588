import type { Subcommand } from "../../command.ts";
import { kindNamed } from "../../kinds/kinds.ts";
import { onePage } from "../../kinds/kind.ts";
import { listOptions, showList } from "../../listing.ts";
import { fieldLines } from "../../output/fields.ts";
import { memberColumns, roleOf } from "../org-members.ts";
import { endAll, endOption } from "./end-owner.ts";
import { adminClient, adminOption } from "./token.ts";
import { emailConfirmedOption } from "./users.ts";

const org = { name: "<org>", description: "id of an organization, o_…" } as const;
const user = { name: "<user>", description: "id of a user, u_…" } as const;

/** `hw admin orgs …` */
export const organizations: readonly Subcommand[] = [
  {
    name: "list",
    isDefault: true,
    summary: "list all organizations",
    options: [adminOption, ...listOptions],
    examples: [{ command: "hw admin orgs list", does: "List all organizations." }],
    operations: ["adminListOrganizations"],
    run: async (context, given) => {
      const client = await adminClient(context, given);
      const { columns } = kindNamed("orgs");
      await showList(context, given, { what: "organizations", columns, read: (query) => client.call("adminListOrganizations", { query }) });
    },
  },
  {
    name: "create",
    summary: "create an organization",
    arguments: [
      { name: "<name>", description: "display name" },
      { name: "<orgname>", description: "unique name" },
      { name: "<email>", description: "contact address" },
    ],
    options: [
      adminOption,
      emailConfirmedOption,
      { flags: "--admin <user>", description: "id of a user who manages its members", value: "list" },
    ],
    examples: [{ command: 'hw admin orgs create "Acme Labs" acme-labs labs@example.com', does: "Create an organization." }],
    operations: ["adminCreateOrganization"],
    run: async (context, given) => {
      const client = await adminClient(context, given);
      const body = {
        name: given.required("name"),
        orgname: given.required("orgname"),
        email: given.required("email"),
        email_confirmed: given.flag("email-confirmed"),
        admins: given.list("admin"),
      };
      const answer = await client.call("adminCreateOrganization", { body });
      await context.out.done(answer, `organization ${answer.data.id} created`);
    },
  },
  {
    name: "show",
    summary: "show an organization",
    arguments: [org],
    options: [adminOption],
    examples: [{ command: "hw admin orgs show o_0123456789ab", does: "Show an organization." }],
    operations: ["adminGetOrganization"],
    run: async (context, given) => {
      const answer = await (await adminClient(context, given)).call("adminGetOrganization", { path: { id: given.required("org") } });
      await context.out.document(answer, () => fieldLines(answer.data));
    },
  },
  {
    name: "delete",
    summary: "delete an organization that owns nothing and has no members",
    arguments: [org],
    options: [adminOption, endOption, { flags: "-y, --yes", description: "delete without asking" }],
    examples: [{ command: "hw admin orgs delete o_0123456789ab --yes", does: "Delete an organization.", isInert: true }],
    operations: ["adminDeleteOrganization", "adminEndOrganization"],
    run: async (context, given) => {
      const id = given.required("org");
      const client = await adminClient(context, given);
      const withResources = given.flag("resources");
      await context.terminal.confirm(`Delete organization ${id}${withResources ? " and all that it has" : ""}?`, given.flag("yes"));
      if (withResources) await endAll(id, context, () => client.call("adminEndOrganization", { path: { id } }));
      await client.call("adminDeleteOrganization", { path: { id } });
      await context.out.done({ data: { id } }, `organization ${id} deleted`);
    },
  },
  {
    name: "plan",
    summary: "choose the plan of an organization",
    arguments: [org, { name: "<plan>", description: "name of a plan" }],
    options: [adminOption],
    examples: [{ command: "hw admin orgs plan o_0123456789ab large", does: "Choose a plan." }],
    operations: ["adminChooseOrganizationPlan"],
    run: async (context, given) => {
      const client = await adminClient(context, given);
      const path = { id: given.required("org") };
      const answer = await client.call("adminChooseOrganizationPlan", { path, body: { plan: given.required("plan") } });
      await context.out.done(answer, `organization ${path.id} has the plan ${answer.data.name}`);
    },
  },
  {
    name: "members",
    summary: "list the members of an organization",
    arguments: [org],
    options: [adminOption, ...listOptions],
    examples: [{ command: "hw admin orgs members o_0123456789ab", does: "List members." }],
    operations: ["adminListMembers"],
    run: async (context, given) => {
      const client = await adminClient(context, given);
      const path = { id: given.required("org") };
      await showList(context, given, {
        what: "members",
        columns: memberColumns,
        read: () => onePage(client.call("adminListMembers", { path })),
      });
    },
  },
  {
    name: "set-member",
    summary: "add a member, or change their role",
    arguments: [org, user, { name: "<role>", description: "admin or member", choices: ["admin", "member"] }],
    options: [adminOption],
    examples: [{ command: "hw admin orgs set-member o_0123456789ab u_localuser admin", does: "Make a user an admin." }],
    operations: ["adminPutMember"],
    run: async (context, given) => {
      const client = await adminClient(context, given);
      const path = { id: given.required("org"), user_id: given.required("user") };
      const answer = await client.call("adminPutMember", { path, body: { role: roleOf(given.required("role")) } });
      await context.out.done(answer, `${answer.data.username} is ${answer.data.role} of ${path.id}`);
    },
  },
  {
    name: "remove-member",
    summary: "remove a member",
    arguments: [org, user],
    options: [adminOption, { flags: "-y, --yes", description: "remove without asking" }],
    examples: [{ command: "hw admin orgs remove-member o_0123456789ab u_localuser --yes", does: "Remove a member." }],
    operations: ["adminRemoveMember"],
    run: async (context, given) => {
      const client = await adminClient(context, given);
      const path = { id: given.required("org"), user_id: given.required("user") };
      await context.terminal.confirm(`Remove ${path.user_id} from ${path.id}?`, given.flag("yes"));
      await client.call("adminRemoveMember", { path });
      await context.out.done({ data: { id: path.user_id } }, `${path.user_id} is no member of ${path.id} any more`);
    },
  },
];
