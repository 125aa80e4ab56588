import type { Subcommand } from "../../command.ts";
import { confirmedLine } from "../namespaces.ts";
import { adminClient, adminOption } from "./token.ts";

const owner = { name: "<owner>", description: "id of a user or an organization, u_… or o_…" } as const;
const namespace = { name: "<namespace>", description: "name of a namespace" } as const;

/** `hw admin namespaces …` */
export const namespaces: readonly Subcommand[] = [
  {
    name: "confirm",
    summary: "confirm that a namespace is that of an owner",
    arguments: [owner, namespace],
    options: [adminOption],
    examples: [{ command: "hw admin namespaces confirm u_localuser team-a", does: "Confirm a namespace.", isInert: true }],
    operations: ["adminConfirmNamespace"],
    run: async (context, given) => {
      const client = await adminClient(context, given);
      const answer = await client.call("adminConfirmNamespace", {
        path: { id: given.required("owner") },
        body: { name: given.required("namespace") },
      });
      await context.out.done(answer, confirmedLine(answer.data));
    },
  },
  {
    name: "withdraw",
    summary: "withdraw the confirmation of a namespace",
    arguments: [owner, namespace],
    options: [adminOption, { flags: "-y, --yes", description: "withdraw without asking" }],
    examples: [{ command: "hw admin namespaces withdraw u_localuser team-a --yes", does: "Withdraw a namespace.", isInert: true }],
    operations: ["adminWithdrawNamespace"],
    run: async (context, given) => {
      const path = { id: given.required("owner"), name: given.required("namespace") };
      const client = await adminClient(context, given);
      await context.terminal.confirm(`Withdraw namespace ${path.name} of ${path.id}? Its resources then wait.`, given.flag("yes"));
      await client.call("adminWithdrawNamespace", { path });
      await context.out.done({ data: { name: path.name } }, `namespace ${path.name} withdrawn`);
    },
  },
];
