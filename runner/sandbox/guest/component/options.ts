import { isObject } from "./component.ts";
import { ruleTypeError } from "../runtime/errors.ts";

/** The host enforces the same limits; applied here, a long list is cut before it is sent. */
const maxOptions = 5_000;
const maxCharacters = 256 * 1024;
const maxContext = 64 * 1024;

const { stringify } = JSON;

/**
 * `{options, context, truncated}` as JSON text, from the value or result of `options`: a list of values or of `{label, value}`, or
 * `{options, context}`. Options beyond the limits, null and undefined are omitted.
 */
export function optionsText(prop: string, given: unknown): string {
  const { options, context } = isObject(given) && !Array.isArray(given) ? given : { options: given, context: undefined };
  if (options !== undefined && options !== null && !Array.isArray(options)) {
    throw ruleTypeError(
      "invalid_options",
      `options of prop '${prop}' returned ${typeof options === "object" ? "an object" : `a ${typeof options}`}: it must return an array, or {options, context} with one`,
    );
  }
  const texts: string[] = [];
  let characters = 0;
  let truncated = false;
  for (const [index, option] of ((options ?? []) as unknown[]).entries()) {
    if (option === undefined || option === null) continue;
    const text = optionText(prop, index, option);
    characters += text.length + 1;
    truncated = texts.length >= maxOptions || characters > maxCharacters;
    if (truncated) break;
    texts.push(text);
  }
  return `{"options":[${texts.join(",")}],"context":${contextText(prop, context)},"truncated":${truncated}}`;
}

function optionText(prop: string, index: number, option: unknown): string {
  const text = jsonText(option);
  if (text !== undefined && (!isObject(option) || (!Array.isArray(option) && "value" in option))) return text;
  const what = text === undefined ? "nothing that JSON can hold" : text.slice(0, 100);
  throw ruleTypeError(
    "invalid_options",
    `option ${index} of prop '${prop}' is ${what}: an option is a string, a number, a boolean or {label, value}`,
  );
}

function contextText(prop: string, context: unknown): string {
  const text = jsonText(context ?? null);
  if (text !== undefined && text.length <= maxContext) return text;
  throw ruleTypeError(
    "invalid_options",
    `the context that options of prop '${prop}' returned must be JSON of at most ${maxContext} characters`,
  );
}

function jsonText(value: unknown): string | undefined {
  try {
    return stringify(value) as string | undefined;
  } catch {
    return undefined;
  }
}
