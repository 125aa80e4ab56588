import type { Definition } from "../command.ts";
import { fieldLines } from "../output/fields.ts";
import { organizations } from "./admin/organizations.ts";
import { namespaces } from "./admin/namespaces.ts";
import { plans } from "./admin/plans.ts";
import { adminClient, adminOption } from "./admin/token.ts";
import { variables } from "./admin/variables.ts";
import { users } from "./admin/users.ts";

export const command: Definition = {
  description: "Manages users, organizations and plans of the installation, with its admin token.",
  examples: [{ command: "hw admin users", does: "List all users." }],
  operations: [],
  subcommands: [
    { name: "users", aliases: ["user"], summary: "users and their keys", examples: [], operations: [], subcommands: users },
    {
      name: "orgs",
      aliases: ["org"],
      summary: "organizations and their members",
      examples: [],
      operations: [],
      subcommands: organizations,
    },
    {
      name: "namespaces",
      aliases: ["namespace"],
      summary: "namespaces of owners",
      examples: [],
      operations: [],
      subcommands: namespaces,
    },
    { name: "plans", aliases: ["plan"], summary: "plans: quotas and weights", examples: [], operations: [], subcommands: plans },
    {
      name: "variables",
      aliases: ["variable"],
      summary: "variables of the installation",
      examples: [],
      operations: [],
      subcommands: variables,
    },
    {
      name: "status",
      summary: "show streams, runners, delivery replicas and backlog of the installation",
      options: [adminOption],
      examples: [{ command: "hw admin status", does: "Show the state of the installation." }],
      operations: ["adminGetStatus"],
      run: async (context, given) => {
        const answer = await (await adminClient(context, given)).call("adminGetStatus", {});
        await context.out.document(answer, () => fieldLines(answer.data));
      },
    },
  ],
};
