import type { Subcommand } from "../../command.ts";
import { kindNamed } from "../../kinds/kinds.ts";
import { onePage } from "../../kinds/kind.ts";
import { listOptions, showList } from "../../listing.ts";
import { fieldLines } from "../../output/fields.ts";
import { createdKeyLines, keyBody, keyOptions } from "../keys.ts";
import { endAll, endOption } from "./end-owner.ts";
import { adminClient, adminOption } from "./token.ts";

export const emailConfirmedOption = {
  flags: "--email-confirmed",
  description: "its holder wants the mails: they need not confirm it",
} as const;

const user = { name: "<user>", description: "id of a user, u_…" } as const;

/** `hw admin users …` */
export const users: readonly Subcommand[] = [
  {
    name: "list",
    isDefault: true,
    summary: "list all users",
    options: [adminOption, ...listOptions],
    examples: [{ command: "hw admin users list", does: "List all users." }],
    operations: ["adminListUsers"],
    run: async (context, given) => {
      const client = await adminClient(context, given);
      await showList(context, given, {
        what: "users",
        read: (query) => client.call("adminListUsers", { query }),
        columns: [
          { header: "ID", value: ({ id }) => id, isWhole: true },
          { header: "USERNAME", value: ({ username }) => username },
          { header: "EMAIL", value: ({ email }) => email },
          { header: "CONFIRMED", value: ({ email_confirmed: isConfirmed }) => (isConfirmed ? "yes" : "no") },
        ],
      });
    },
  },
  {
    name: "create",
    summary: "create a user",
    arguments: [
      { name: "<username>", description: "unique name" },
      { name: "<email>", description: "email address" },
    ],
    options: [adminOption, emailConfirmedOption],
    examples: [{ command: "hw admin users create ada ada@example.com", does: "Create a user." }],
    operations: ["adminCreateUser"],
    run: async (context, given) => {
      const client = await adminClient(context, given);
      const answer = await client.call("adminCreateUser", {
        body: { username: given.required("username"), email: given.required("email"), email_confirmed: given.flag("email-confirmed") },
      });
      await context.out.done(answer, `user ${answer.data.id} created`);
    },
  },
  {
    name: "show",
    summary: "show a user",
    arguments: [user],
    options: [adminOption],
    examples: [{ command: "hw admin users show u_localuser", does: "Show a user." }],
    operations: ["adminGetUser"],
    run: async (context, given) => {
      const answer = await (await adminClient(context, given)).call("adminGetUser", { path: { id: given.required("user") } });
      await context.out.document(answer, () => fieldLines(answer.data));
    },
  },
  {
    name: "delete",
    summary: "delete a user who owns nothing, with keys and memberships",
    arguments: [user],
    options: [adminOption, endOption, { flags: "-y, --yes", description: "delete without asking" }],
    examples: [
      { command: "hw admin users delete u_0123456789ab --yes", does: "Delete a user." },
      {
        command: "hw admin users delete u_0123456789ab --resources --yes",
        does: "Delete a user with all that the user has.",
        isInert: true,
      },
    ],
    operations: ["adminDeleteUser", "adminEndUser"],
    run: async (context, given) => {
      const id = given.required("user");
      const client = await adminClient(context, given);
      const withResources = given.flag("resources");
      await context.terminal.confirm(`Delete user ${id}${withResources ? " and all that the user has" : ""}?`, given.flag("yes"));
      if (withResources) await endAll(id, context, () => client.call("adminEndUser", { path: { id } }));
      await client.call("adminDeleteUser", { path: { id } });
      await context.out.done({ data: { id } }, `user ${id} deleted`);
    },
  },
  {
    name: "plan",
    summary: "choose the plan of a user",
    arguments: [user, { name: "<plan>", description: "name of a plan" }],
    options: [adminOption],
    examples: [{ command: "hw admin users plan u_localuser free", does: "Choose a plan." }],
    operations: ["adminChooseUserPlan"],
    run: async (context, given) => {
      const client = await adminClient(context, given);
      const path = { id: given.required("user") };
      const answer = await client.call("adminChooseUserPlan", { path, body: { plan: given.required("plan") } });
      await context.out.done(answer, `user ${path.id} has the plan ${answer.data.name}`);
    },
  },
  {
    name: "keys",
    summary: "list the API keys of a user",
    arguments: [user],
    options: [adminOption, ...listOptions],
    examples: [{ command: "hw admin users keys u_localuser", does: "List a user's keys." }],
    operations: ["adminListKeys"],
    run: async (context, given) => {
      const client = await adminClient(context, given);
      const { columns } = kindNamed("keys");
      const path = { id: given.required("user") };
      await showList(context, given, { what: "keys", columns, read: () => onePage(client.call("adminListKeys", { path })) });
    },
  },
  {
    name: "create-key",
    summary: "create an API key for a user, and show it",
    arguments: [user, { name: "<name>", description: "display name of the key" }],
    options: [adminOption, ...keyOptions],
    examples: [{ command: "hw admin users create-key u_localuser laptop", does: "Create a key for a user." }],
    operations: ["adminCreateKey"],
    run: async (context, given) => {
      const client = await adminClient(context, given);
      const answer = await client.call("adminCreateKey", { path: { id: given.required("user") }, body: keyBody(given) });
      await context.out.document(answer, () => createdKeyLines(answer.data));
    },
  },
  {
    name: "revoke-key",
    summary: "revoke an API key of a user",
    arguments: [user, { name: "<key>", description: "id of a key, pk_…" }],
    options: [adminOption, { flags: "-y, --yes", description: "revoke without asking" }],
    examples: [{ command: "hw admin users revoke-key u_localuser pk_0123456789ab --yes", does: "Revoke a key." }],
    operations: ["adminRevokeKey"],
    run: async (context, given) => {
      const path = { id: given.required("user"), key_id: given.required("key") };
      const client = await adminClient(context, given);
      await context.terminal.confirm(`Revoke key ${path.key_id}?`, given.flag("yes"));
      await client.call("adminRevokeKey", { path });
      await context.out.done({ data: { id: path.key_id } }, `key ${path.key_id} revoked`);
    },
  },
];
