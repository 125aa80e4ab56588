import type { OptionDefinition } from "./command.ts";
import { formats, type Format } from "./output/output.ts";

/** Options that every command takes. */
export const globalOptions: readonly OptionDefinition[] = [
  { flags: "-p, --profile <name>", description: "stored profile to use instead of the one that is found" },
  { flags: "--org <org>", description: "act on behalf of this organization: its id or name" },
  { flags: "-o, --output <format>", description: "format of the output", choices: formats },
  { flags: "-q, --quiet", description: "print results only: no sentences, no progress" },
  { flags: "--no-color", description: "no colours" },
];

/** Values of global options are no operands. */
export const valuesOfGlobalOptions: ReadonlySet<string> = new Set(["-p", "--profile", "--org", "-o", "--output"]);

export interface Settings {
  readonly profileName: string | undefined;
  readonly org: string | undefined;
  readonly format: Format;
  readonly isQuiet: boolean;
  readonly hasColors: boolean;
}

export function settingsOf(values: Readonly<Record<string, unknown>>): Settings {
  const text = (name: string): string | undefined => (typeof values[name] === "string" ? values[name] : undefined);
  const format = formats.find((each) => each === values["output"]) ?? "table";
  return {
    profileName: text("profile"),
    org: text("org"),
    format,
    isQuiet: values["quiet"] === true,
    hasColors: values["color"] !== false,
  };
}
