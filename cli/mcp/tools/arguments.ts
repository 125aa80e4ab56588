import { z } from "zod";
import { usageFailure } from "../../failure.ts";
import { nearestName } from "../../nearest-name.ts";
import { cutText, shortJson } from "./answer.ts";
import type { Tool } from "./tool.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Errors name at most this many arguments. */
const maxNamed = 5;
const maxShown = 80;

/** The input of a tool as JSON Schema. */
export function jsonSchemaOf({ input }: Pick<Tool, "input">): Fields & { readonly type: "object" } {
  const { $schema: _version, ...schema } = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  return { ...schema, type: "object" };
}

/** Arguments with defaults. @throws Failure that names each wrong argument, its value, and what is accepted */
export function parseArguments(tool: Pick<Tool, "name" | "input">, given: unknown): Fields {
  const values = given ?? {};
  if (!isFields(values)) throw usageFailure(`the arguments of ${tool.name} are ${shownValue(values)}: they must be an object`);
  const accepted = jsonSchemaOf(tool)["properties"];
  const known = isFields(accepted) ? accepted : {};
  const unknown = Object.keys(values).filter((key) => !Object.hasOwn(known, key));
  const { success, data, error } = tool.input.safeParse(
    Object.fromEntries(Object.entries(values).filter(([key]) => !unknown.includes(key))),
  );
  const wrong = success ? [] : [...new Set(error.issues.map(({ path }) => String(path[0])))];
  const complaints = [
    ...unknown.map((key) => unknownArgument(tool.name, key, values[key], Object.keys(known))),
    ...wrong.map((key) => wrongArgument(tool.name, key, values, known[key])),
  ];
  if (data !== undefined && complaints.length === 0) return data;
  const more = complaints.length > maxNamed ? [`${complaints.length - maxNamed} more arguments are wrong`] : [];
  throw usageFailure([...complaints.slice(0, maxNamed), ...more].join("\n"));
}

function unknownArgument(tool: string, key: string, value: unknown, known: readonly string[]): string {
  const nearest = nearestName(key, known);
  const accepted = known.length === 0 ? "it has none" : `its arguments are ${known.join(", ")}`;
  const right = nearest === undefined ? accepted : `did you mean ${nearest}?`;
  return `${tool} has no argument ${shownValue(key)} (given: ${shownValue(value)}): ${right}`;
}

function wrongArgument(tool: string, key: string, values: Fields, schema: unknown): string {
  const right = acceptedBy(isFields(schema) ? schema : {});
  if (!Object.hasOwn(values, key) || values[key] === undefined) return `${tool} needs the argument ${key}: ${right}`;
  const value = values[key];
  const choices = isFields(schema) ? choicesOf(schema) : [];
  const nearest = typeof value === "string" ? nearestName(value, choices) : undefined;
  const subject = nearest === undefined ? "it" : `did you mean ${nearest}? It`;
  return `${tool} has the argument ${key} with ${shownValue(value)}: ${subject} must be ${right}`;
}

const choicesOf = (schema: Fields): readonly string[] => (Array.isArray(schema["enum"]) ? schema["enum"].map(String) : []);

/** What a JSON Schema accepts, in words. */
function acceptedBy(schema: Fields): string {
  const { description } = schema;
  const about = typeof description === "string" ? ` (${description})` : "";
  return `${typeIn(schema)}${about}`;
}

function typeIn(schema: Fields): string {
  const choices = choicesOf(schema);
  if (choices.length > 0) return `one of ${choices.join(", ")}`;
  const { type, minimum, maximum, maxLength, maxItems, items } = schema;
  if (type === "integer") return `an integer from ${String(minimum)} to ${String(maximum)}`;
  if (type === "string") return `a string of 1 to ${String(maxLength)} characters`;
  if (type === "boolean") return "true or false";
  if (type === "array") return `a list of at most ${String(maxItems)}, each ${isFields(items) ? typeIn(items) : "any value"}`;
  return type === "object" ? "an object" : "any JSON value";
}

/** A value as short JSON; of a long text also its length. */
function shownValue(value: unknown): string {
  if (typeof value === "string" && value.length > maxShown)
    return `${JSON.stringify(cutText(value, maxShown))} (${value.length} characters)`;
  return cutText(shortJson(value, maxShown), maxShown);
}

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
