import type { Definition, Subcommand } from "../command.ts";
import type { Context } from "../context.ts";
import type { Given } from "../given.ts";
import { usageFailure } from "../failure.ts";
import { readText } from "../values.ts";

export const variableArgument = { name: "<name>", description: "name of the variable, such as API_URL" } as const;
const orgOption = { flags: "--org <organization>", description: "those of this organization, by its id" } as const;
export const valueArguments = [
  variableArgument,
  { name: "[value]", description: "the value, or @file, or @- for standard input; without it, it is asked for, hidden" },
] as const;
export const secretOptions = [
  { flags: "--secret", description: "show the value nowhere, and mask it in logs; a secret variable stays one" },
  { flags: "--plain", description: "show the value in lists" },
] as const;

const queryOf = (given: Given) => {
  const org = given.text("org");
  return org === undefined ? {} : { org_id: org };
};

/** The fields of a request. The last line break of a file does not belong to the value. */
export async function variableFieldsOf({ terminal }: Context, given: Given) {
  const [name, text] = [given.required("name"), given.text("value")];
  if (given.flag("secret") && given.flag("plain"))
    throw usageFailure("a variable is either secret or plain", "leave out --secret or --plain");
  const value =
    text === undefined
      ? await terminal.askSecret(name, "write the value, or @file, as the second argument")
      : text.startsWith("@")
        ? (await readText(text.slice(1))).replace(/\r?\n$/, "")
        : text;
  return { name, body: { value, ...(given.flag("secret") ? { secret: true } : given.flag("plain") ? { secret: false } : {}) } };
}

interface Variable {
  readonly name: string;
  readonly value: string | null;
  readonly origin: string;
  readonly healthy: boolean | null;
  readonly problem: string | null;
}

/** `NAME  value`, with who has it if it is not the owner, and why runs do not read it. */
export const variableLine = ({ name, value, origin, healthy, problem }: Variable): string =>
  [
    name,
    value === null ? "(secret)" : JSON.stringify(value),
    ...(origin === "shared" ? ["of the installation"] : []),
    ...(healthy === false && problem !== null ? [`not read: ${problem}`] : []),
  ].join("  ");

/** What `set` reports. */
export const setReport = (variable: Variable): string =>
  variable.healthy === false && variable.problem !== null
    ? `${variable.name} is set, but runs do not read it: ${variable.problem}`
    : `${variable.name} is set: the next runs read it`;

const list: Subcommand = {
  name: "list",
  isDefault: true,
  summary: "list the variables that steps can read",
  options: [orgOption],
  examples: [],
  operations: ["listVariables"],
  run: async ({ client, out }, given) => {
    const answer = await client.call("listVariables", { query: queryOf(given) });
    await out.done(answer, answer.data.map((variable) => variableLine(variable)).join("\n"));
  },
};

const set: Subcommand = {
  name: "set",
  summary: "set a variable",
  arguments: valueArguments,
  options: [...secretOptions, orgOption],
  examples: [
    { command: "hw variables set API_URL https://api.example.com", does: "Set a variable." },
    { command: "hw variables set API_KEY --secret", does: "Ask for a secret value, hidden.", isInert: true },
  ],
  operations: ["setVariable"],
  run: async (context, given) => {
    const { name, body } = await variableFieldsOf(context, given);
    const answer = await context.client.call("setVariable", { path: { name }, query: queryOf(given), body });
    await context.out.done(answer, setReport(answer.data));
  },
};

const remove: Subcommand = {
  name: "delete",
  summary: "delete a variable",
  arguments: [variableArgument],
  options: [{ flags: "-y, --yes", description: "delete without asking" }, orgOption],
  examples: [{ command: "hw variables delete API_URL --yes", does: "Delete a variable." }],
  operations: ["deleteVariable"],
  run: async ({ client, out, terminal }, given) => {
    const name = given.required("name");
    await terminal.confirm(`Delete the variable ${name}?`, given.flag("yes"));
    await client.call("deleteVariable", { path: { name }, query: queryOf(given) });
    await out.done({ data: { name } }, `variable ${name} deleted`);
  },
};

export const command: Definition = {
  description: "Manages variables, which steps of workflows read as {{ env.NAME }}, and inline code as process.env.NAME.",
  examples: [{ command: "hw variables list", does: "List variables." }],
  operations: [],
  subcommands: [list, set, remove],
};
