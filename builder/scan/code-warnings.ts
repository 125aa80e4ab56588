import type { ComponentDefinition } from "../../domain/component/definition.ts";
import type { Warning } from "../../domain/component/warning.ts";

/** Longer arguments of `$emit` are not looked through. */
const maxArguments = 10_000;

/**
 * Warnings from a bundle's text, without running it. Bundles have no comments, and their property names are not minified. Only literal
 * uses are found: not a channel in a variable, nor `respond` taken out of its prop.
 */
export function codeWarnings({ props }: ComponentDefinition, bundle: string): readonly Warning[] {
  return [...props.flatMap((prop) => responseWarnings(prop, bundle)), ...channelWarnings(bundle)];
}

function responseWarnings({ name, type, customResponse }: ComponentDefinition["props"][number], bundle: string): readonly Warning[] {
  if (type !== "$.interface.http" || customResponse === true || !bundle.includes(`this.${name}.respond(`)) return [];
  const message = `this.${name}.respond() has no effect: the caller is answered 200 at once unless the prop has customResponse: true`;
  return [{ code: "no_custom_response", message: `prop '${name}': ${message}`, path: `props.${name}.customResponse` }];
}

function channelWarnings(bundle: string): readonly Warning[] {
  const channels = [...bundle.matchAll(/\$emit\(/g)].flatMap(
    ({ index }) => reservedChannel(argumentsAt(bundle, index + "$emit(".length)) ?? [],
  );
  return [...new Set(channels)].map((channel) => ({
    code: "reserved_channel",
    message: `the code emits on the channel '${channel}': channels that begin with $ are the system's, and such an emit fails`,
    path: "run",
  }));
}

function reservedChannel(text: string): string | undefined {
  return /[{,]\s*name:\s*(["'`])(\$[^"'`]{0,60})\1/.exec(text)?.[2];
}

/** The text up to the parenthesis that closes the call. */
function argumentsAt(bundle: string, from: number): string {
  let depth = 1;
  let quote = "";
  for (let index = from; index < Math.min(bundle.length, from + maxArguments); index++) {
    const character = bundle.charAt(index);
    if (quote !== "") {
      if (character === "\\") index += 1;
      else if (character === quote) quote = "";
    } else if ("\"'`".includes(character)) quote = character;
    else if (character === "(") depth += 1;
    else if (character === ")" && --depth === 0) return bundle.slice(from, index);
  }
  return "";
}
