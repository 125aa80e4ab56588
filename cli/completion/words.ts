import type { Definition, Subcommand } from "../command.ts";
import { commands } from "../commands.ts";
import { globalOptions } from "../settings.ts";
import type { Completion } from "./completion.ts";

/** Completes the last of the words after `hw`. Options complete after a dash, commands at first, then subcommands and choices. */
export async function completionOf(words: readonly string[]): Promise<Completion> {
  const current = words.at(-1) ?? "";
  const before = words.slice(0, -1).filter((word) => !word.startsWith("-"));
  const [name, ...rest] = before;
  if (name === undefined) return { words: current.startsWith("-") ? optionWords() : commands.map((entry) => entry.name) };
  const entry = commands.find((each) => each.name === name || each.aliases?.includes(name) === true);
  if (entry === undefined) return { words: [] };
  const { definition, operands } = descend((await entry.load()).command, rest);
  if (current.startsWith("-")) return { words: optionWords(definition) };
  const argument = argumentAt(definition, operands.length);
  const subcommands = operands.length === 0 ? (definition.subcommands ?? []).map((each) => each.name) : [];
  return { words: [...subcommands, ...(argument?.choices ?? [])], reference: argument?.completes };
}

function descend(
  definition: Definition,
  operands: readonly string[],
): { readonly definition: Definition; readonly operands: readonly string[] } {
  const [first, ...rest] = operands;
  const next: Subcommand | undefined = definition.subcommands?.find(
    ({ name, aliases }) => name === first || aliases?.includes(first ?? "") === true,
  );
  return next === undefined ? { definition, operands } : descend(next, rest);
}

/** The last argument may be given several times. */
function argumentAt({ arguments: declared = [] }: Definition, index: number): (typeof declared)[number] | undefined {
  const last = declared.at(-1);
  return declared[index] ?? (last?.name.includes("...") === true ? last : undefined);
}

function optionWords(definition?: Definition): string[] {
  const flags = [...(definition?.options ?? []), ...globalOptions].map((option) => option.flags);
  return [...flags.flatMap((text) => [...text.matchAll(/--[\w-]+/g)].map(([word]) => word)), "--help"];
}
