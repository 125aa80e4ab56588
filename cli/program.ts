import { Argument, Command, CommanderError, InvalidArgumentError, Option } from "commander";
import type { CommandEntry, Definition, OptionDefinition } from "./command.ts";
import { groups } from "./command.ts";
import { commands } from "./commands.ts";
import { exitCodes, usageFailure } from "./failure.ts";
import { Given } from "./given.ts";
import { nearestName } from "./nearest-name.ts";
import { globalOptions, settingsOf, valuesOfGlobalOptions, type Settings } from "./settings.ts";

import own from "./package.json" with { type: "json" };

export type { Settings } from "./settings.ts";

/** A command line that commander has accepted. */
export interface Invocation {
  readonly definition: Definition;
  readonly given: Given;
  readonly settings: Settings;
}

/** Print help, and errors of usage. */
interface Writers {
  readonly writeOut: (text: string) => void;
  readonly writeErr: (text: string) => void;
}

/** Parses a command line; an exit code where nothing is left to do: help was printed, or the usage is wrong. @throws Failure for an unknown command */
export async function parse(given: readonly string[], writers: Writers): Promise<Invocation | number> {
  // The spelling of the known command line; options of several letters begin with two dashes here.
  const argv = given.map((argument) => (argument === "-dc" ? "--dc" : argument));
  let invocation: Invocation | undefined;
  await refuseUnknownCommand(usedName(argv));
  const program = await programFor(argv, (found) => (invocation = found));
  setWriters(program, writers);
  try {
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 || error.code === "commander.help" ? exitCodes.success : exitCodes.usage;
  }
  return invocation ?? exitCodes.success;
}

/** The program with all commands by name and summary, of which only the used one is loaded. */
async function programFor(argv: readonly string[], onInvocation: (invocation: Invocation) => void): Promise<Command> {
  const program = newCommand("hw")
    .description("The command line of Headwater: write, deploy and watch event sources.")
    .usage("<command> [options]")
    .version(own.version, "-V, --version", "show the version of hw");
  for (const definition of globalOptions) program.addOption(optionOf(definition));
  program.addHelpText("after", "\nExamples and exit codes: docs/cli.md");
  const used = usedName(argv);
  for (const group of groups) {
    program.commandsGroup(`${group}:`);
    for (const entry of commands.filter((each) => each.group === group)) {
      program.addCommand(await commandOf(entry, used, onInvocation), { hidden: entry.isHidden === true });
    }
  }
  const help = new Command("help").argument("[command]").description("show the help of a command");
  program.addHelpCommand(help.helpGroup(`${groups.at(-1)}:`));
  return program;
}

/** Subcommands do not inherit them. */
function setWriters(command: Command, writers: Writers): void {
  command.configureOutput(writers);
  for (const subcommand of command.commands) setWriters(subcommand, writers);
}

/** @throws Failure with the command that is probably meant */
async function refuseUnknownCommand(name: string | undefined): Promise<void> {
  if (name === undefined || name === "help" || commands.some((entry) => entry.name === name || entry.aliases?.includes(name) === true))
    return;
  const { kinds } = await import("./kinds/kinds.ts");
  const kind = kinds.find(({ name: plural, noun, aliases }) => [plural, noun, ...aliases].includes(name));
  const nearest = nearestName(
    name,
    commands.filter(({ isHidden }) => isHidden !== true).map((entry) => entry.name),
  );
  const hint =
    kind === undefined
      ? nearest === undefined
        ? "`hw --help` lists the commands"
        : `did you mean \`hw ${nearest}\`?`
      : `\`hw list ${kind.name}\` lists ${kind.name}`;
  throw usageFailure(`unknown command "${name}"`, hint);
}

/** The first operand names the command; `hw help list` shows the help of list. */
function usedName(argv: readonly string[]): string | undefined {
  const operands = argv.filter((each, index) => !each.startsWith("-") && !valuesOfGlobalOptions.has(argv[index - 1] ?? ""));
  return operands[0] === "help" ? operands[1] : operands[0];
}

async function commandOf(entry: CommandEntry, used: string | undefined, onInvocation: (invocation: Invocation) => void): Promise<Command> {
  const { name, aliases = [], summary } = entry;
  const command = newCommand(name)
    .summary(summary)
    .description(summary)
    .aliases([...aliases]);
  if (used === undefined || ![name, ...aliases].includes(used)) return command;
  const { command: definition } = await entry.load();
  return complete(command, definition, onInvocation);
}

function newCommand(name: string): Command {
  return new Command(name)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true, subcommandTerm: (command) => command.name() })
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "hw: ")) })
    .showHelpAfterError("    --help shows how");
}

/** Adds what the definition declares, and its subcommands. */
export function complete(command: Command, definition: Definition, onInvocation: (invocation: Invocation) => void): Command {
  if (definition.description !== undefined) command.description(definition.description);
  const declared = [...(definition.arguments ?? [])];
  for (const { name, description, choices } of declared) {
    const argument = new Argument(name, description);
    command.addArgument(choices === undefined ? argument : argument.choices([...choices]));
  }
  for (const option of definition.options ?? []) command.addOption(optionOf(option));
  for (const subcommand of definition.subcommands ?? []) {
    const { name, aliases = [], summary, isDefault = false } = subcommand;
    const child = newCommand(name)
      .summary(summary)
      .description(summary)
      .aliases([...aliases]);
    command.addCommand(complete(child, subcommand, onInvocation), { isDefault });
  }
  command.addHelpText("after", () => examplesText(definition));
  if (definition.run !== undefined) {
    command.action(() =>
      onInvocation({ definition, given: givenOf(command, definition), settings: settingsOf(command.optsWithGlobals()) }),
    );
  }
  return command;
}

function examplesText({ examples }: Definition): string {
  if (examples.length === 0) return "";
  return ["", "Examples:", ...examples.map(({ command, does }) => `  # ${does}\n  ${command}`)].join("\n");
}

function optionOf({ flags, description, choices, value, hidden }: OptionDefinition): Option {
  const option = new Option(flags, description);
  if (choices !== undefined) option.choices([...choices]);
  if (value === "count") option.argParser(parseCount);
  if (value === "list") option.argParser((text, before: readonly string[] | undefined) => [...(before ?? []), text]);
  return hidden === true ? option.hideHelp() : option;
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count)) throw new InvalidArgumentError("it must be an integer from 0.");
  return count;
}

/** Values under the names that definitions use: those of arguments without brackets, those of options as on the command line. */
function givenOf(command: Command, definition: Definition): Given {
  const values = new Map<string, unknown>();
  const declared = new Set<string>();
  const set = (name: string, value: unknown): void => {
    declared.add(name);
    if (value !== undefined) values.set(name, value);
  };
  for (const [index, { name }] of (definition.arguments ?? []).entries())
    set(name.replaceAll(/[<>[\].]/g, ""), command.processedArgs[index]);
  for (const option of command.options) set(option.name().replace(/^no-/, ""), command.getOptionValue(option.attributeName()));
  return new Given(values, declared);
}
