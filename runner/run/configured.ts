import { configureLimits, type Configured, type ConfigureCall } from "../../domain/component/configure.ts";
import type { RunError } from "../../domain/run/run-error.ts";
import { readProps } from "../sandbox/isolate/definition.ts";
import type { Execution } from "../sandbox/port.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Judges what a call of a component left: a component shares its realm with the runtime that speaks for it, so nothing is believed. */
export function configuredOf(call: ConfigureCall, execution: Execution): Configured {
  switch (execution.outcome) {
    case "returned":
      return call.kind === "options" ? optionsOf(call.prop, parsed(execution.result)) : propsOf(execution.result);
    case "threw":
    case "limited":
      return { outcome: "failed", error: execution.error };
    case "crashed":
      return failed("runner_crash", `the process of this call ended twice: ${execution.message}`);
  }
}

function optionsOf(prop: string, found: Fields | undefined): Configured {
  const { options, context, truncated } = found ?? {};
  if (!Array.isArray(options) || !options.every(isOption))
    return failed("invalid_options", `options of prop '${prop}' gave no list of values or {label, value}, or more of it than is taken`);
  if (JSON.stringify(context ?? null).length > configureLimits.contextCharacters)
    return failed("invalid_options", `the context of prop '${prop}' has more than ${configureLimits.contextCharacters} characters of JSON`);
  const few = options.slice(0, configureLimits.options);
  return { outcome: "options", options: few, context: context ?? null, truncated: truncated === true || few.length < options.length };
}

function propsOf(result: string | null): Configured {
  const { propsCharacters, props: mostProps } = configureLimits;
  const found = result !== null && result.length <= propsCharacters ? parsed(result) : undefined;
  if (found === undefined)
    return failed("invalid_props", `additionalProps makes more than ${propsCharacters} characters of JSON of prop definitions, the limit`);
  const read = readProps(found["props"]);
  if ("code" in read) return failed(read.code, `additionalProps: ${read.message}`);
  if (read.props.length > mostProps)
    return failed("invalid_props", `the component has ${read.props.length} props with those of additionalProps: it may have ${mostProps}`);
  return { outcome: "props", props: read.props };
}

function isOption(option: unknown): boolean {
  if (typeof option === "object") return option !== null && "value" in option;
  return typeof option === "string" || typeof option === "number" || typeof option === "boolean";
}

/** The sandbox lets through what is JSON of a bounded length and depth. */
function parsed(text: string | null): Fields | undefined {
  const value: unknown = text === null ? undefined : JSON.parse(text);
  return typeof value === "object" && value !== null ? (value as Fields) : undefined; // An object: its fields are read by name.
}

export function failed(code: string, message: string): { readonly outcome: "failed"; readonly error: RunError } {
  return { outcome: "failed", error: { name: "ConfigureError", code, message } };
}
