import type { Subcommand } from "../../command.ts";
import { secretOptions, setReport, valueArguments, variableArgument, variableFieldsOf, variableLine } from "../variables.ts";
import { adminClient, adminOption } from "./token.ts";

/** `hw admin variables …` */
export const variables: readonly Subcommand[] = [
  {
    name: "list",
    isDefault: true,
    summary: "list the variables of the installation",
    options: [adminOption],
    examples: [{ command: "hw admin variables list", does: "List them.", isInert: true }],
    operations: ["adminListVariables"],
    run: async (context, given) => {
      const answer = await (await adminClient(context, given)).call("adminListVariables", {});
      await context.out.done(answer, answer.data.map((variable) => variableLine(variable)).join("\n"));
    },
  },
  {
    name: "set",
    summary: "set a variable of the installation, which steps of all owners can read",
    arguments: valueArguments,
    options: [adminOption, ...secretOptions],
    examples: [{ command: "hw admin variables set REGION eu", does: "Set one for all owners.", isInert: true }],
    operations: ["adminSetVariable"],
    run: async (context, given) => {
      const client = await adminClient(context, given);
      const { name, body } = await variableFieldsOf(context, given);
      const answer = await client.call("adminSetVariable", { path: { name }, body });
      await context.out.done(answer, setReport(answer.data));
    },
  },
  {
    name: "delete",
    summary: "delete a variable of the installation",
    arguments: [variableArgument],
    options: [adminOption, { flags: "-y, --yes", description: "delete without asking" }],
    examples: [{ command: "hw admin variables delete REGION --yes", does: "Delete one.", isInert: true }],
    operations: ["adminDeleteVariable"],
    run: async (context, given) => {
      const client = await adminClient(context, given);
      const name = given.required("name");
      await context.terminal.confirm(`Delete the variable ${name} of the installation?`, given.flag("yes"));
      await client.call("adminDeleteVariable", { path: { name } });
      await context.out.done({ data: { name } }, `variable ${name} deleted`);
    },
  },
];
