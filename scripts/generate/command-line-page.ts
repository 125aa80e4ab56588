import type { ArgumentDefinition, OptionDefinition } from "../../cli/command.ts";
import { groups } from "../../cli/command.ts";
import { commands, loadAll, type NamedDefinition } from "../../cli/commands.ts";
import { globalOptions } from "../../cli/settings.ts";
import { wrap } from "./wrap.ts";

/** docs/cli.md: what `hw` is, and every command with its options and examples. */
export async function commandLinePage(): Promise<string> {
  const all = await loadAll();
  const shown = commands.filter(({ isHidden }) => isHidden !== true);
  const sections = groups.flatMap((group) => [
    `## ${group}`,
    ...shown
      .filter((entry) => entry.group === group)
      .flatMap(({ name }) => all.filter((each) => each.name.split(" ")[0] === name).flatMap(sectionOf)),
  ]);
  return `${[head, introduction(), ...sections].join("\n\n")}\n`;
}

const head = "<!-- Written by `npm run generate` from cli/commands. Changes go there. -->";

function introduction(): string {
  return [
    "# Command line",
    wrap(
      "`hw` is the command line of Headwater. It writes, deploys and watches sources, and has a command for each operation of the [API](api.md).",
    ),
    "In a clone, `node bin/hw.mjs` runs it; the examples below assume this alias:",
    '```console\n$ alias hw="node $PWD/bin/hw.mjs"\n```',
    wrap(
      "`npm pack ./cli` makes a package that `npm install --global` installs, for Node 20.12 or later. In the image, `node bin/hw.mjs` is there as well.",
    ),
    "## Which installation",
    wrap("A command talks to the first of these:"),
    [
      "1. the profile that `--profile` names;",
      "2. `HEADWATER_URL` with `HEADWATER_API_KEY`;",
      "3. the current profile, which `hw login` has stored in `$XDG_CONFIG_HOME/headwater/config.json` (mode 0600);",
      "4. the instance of this directory or one above: `.headwater/api-key` and `.headwater/api-url`, which `npm start` writes;",
      "5. the cluster of kubectl's current context: `hw` reads the Secret `headwater-api-key` and forwards a port to the API\n   while the command runs, in the namespace that `HEADWATER_NAMESPACE` names, otherwise in that which the chart has\n   written to the annotation `headwater.dev/namespace` of the definitions. Other namespaces are not searched.",
    ].join("\n"),
    wrap(
      "`hw profiles` shows which one is used. Profiles of the hosted service's command line (INI, with `api_key` and `org_id`) are read too, from " +
        "`$XDG_CONFIG_HOME/headwater/config` and `$XDG_CONFIG_HOME/pipedream/config`, if you add a `url`. Without one, their key is sent nowhere.",
    ),
    "## Ids and names",
    wrap(
      "Wherever a command takes an id, it also takes a name (of a source its `name_slug`), or the beginning of an id that only one thing has. " +
        "`webhook/orders` names the kind as well.",
    ),
    "## Files that are sent",
    wrap(
      "A component is sent with the files that it imports by relative paths. They must be below the folder of the nearest `package.json` or " +
        "`.git`, otherwise below that of the component; symbolic links count as what they point to. `--root` names another folder. " +
        "If there are several files, the command lists them: read the list before you deploy code of others.",
    ),
    "## Output",
    optionTable(globalOptions),
    wrap(
      "`-o json` and `-o yaml` print what the API answered: one document, or with `--follow` and `--watch` one line (one YAML document) for each item. " +
        "`-o name` prints ids. In a terminal, tables are truncated to its width; in a pipe they are not. Colours are off in a pipe and with `NO_COLOR`. " +
        "Control characters of names, values, logs and code are escaped, such as `\\x1b`; only code in a pipe is exact. " +
        "Sentences for people and progress go to standard error. A command never waits for an answer without a terminal: it fails and names the option.",
    ),
    "## Exit codes",
    [
      "| code | means |",
      "|---|---|",
      "| 0 | it worked; also if the reader of a pipe has closed it |",
      "| 1 | it failed: an error of the server, or an operation that an older server does not have |",
      "| 2 | the command line is wrong: an unknown command or option, a missing value, a name that several things have |",
      "| 3 | not found |",
      "| 4 | the server refused: the key, a right, a conflict, invalid input, a quota |",
      "| 5 | the server is unreachable or not ready |",
      "| 6 | `hw debug`: the run here differs from the recorded one |",
      "| 130 | interrupted with Ctrl-C |",
    ].join("\n"),
    wrap(
      "An error is one sentence on standard error, and below it a hint at what to do. If a component's code failed, its stack and causes are in between.",
    ),
  ].join("\n\n");
}

function sectionOf({ name, aliases, summary, definition }: NamedDefinition): string[] {
  const level = "#".repeat(name.split(" ").length + 2);
  const also = aliases.length === 0 ? "" : ` Also: ${aliases.map((alias) => `\`${alias}\``).join(", ")}.`;
  const operations = definition.operations.length === 0 ? "" : ` Operations: ${definition.operations.map((id) => `\`${id}\``).join(", ")}.`;
  const usage = `hw ${name}${(definition.arguments ?? []).map((argument) => ` ${argument.name}`).join("")}`;
  const tables = [argumentTable(definition.arguments ?? []), optionTable(definition.options ?? [])].filter((table) => table !== "");
  const examples = definition.examples.map(({ command, does }) => `# ${does}\n$ ${command}`).join("\n");
  return [
    `${level} hw ${name}`,
    wrap(`${sentence(definition.description ?? summary)}${also}${operations}`),
    ...(definition.run === undefined ? [] : [`\`${usage}\``]),
    ...tables,
    ...(examples === "" ? [] : [`\`\`\`console\n${examples}\n\`\`\``]),
  ];
}

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;
const cell = (text: string): string => text.replaceAll("|", "\\|");

function argumentTable(declared: readonly ArgumentDefinition[]): string {
  if (declared.length === 0) return "";
  return ["| argument | |", "|---|---|", ...declared.map(({ name, description }) => `| \`${cell(name)}\` | ${cell(description)} |`)].join(
    "\n",
  );
}

function optionTable(declared: readonly OptionDefinition[]): string {
  if (declared.length === 0) return "";
  const row = ({ flags, description, choices }: OptionDefinition): string => {
    const values = choices === undefined || flags.includes("|") ? "" : `: ${choices.map((choice) => `\`${choice}\``).join(", ")}`;
    return `| \`${cell(flags)}\` | ${cell(description)}${values} |`;
  };
  return ["| option | |", "|---|---|", ...declared.map(row)].join("\n");
}
