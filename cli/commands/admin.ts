import type { Definition } from "../command.ts";
import { installation } from "./admin/installation.ts";
import { organizations } from "./admin/organizations.ts";
import { namespaces } from "./admin/namespaces.ts";
import { plans } from "./admin/plans.ts";
import { variables } from "./admin/variables.ts";
import { users } from "./admin/users.ts";

export const command: Definition = {
  description: "Manages users, organizations and plans of the installation, and shows its state, with its admin token.",
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
    ...installation,
  ],
};
