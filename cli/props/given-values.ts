import type { OptionDefinition } from "../command.ts";
import { usageFailure } from "../failure.ts";
import type { Given } from "../given.ts";
import { objectsOf, pairsOf } from "../values.ts";
import type { PropDefinition } from "./definition.ts";

export const propOptions: readonly OptionDefinition[] = [
  { flags: "--prop <name=value>", description: "value of a prop: text, or JSON where its type needs it; can be repeated", value: "list" },
  { flags: "--props <file>", description: "values of props: an object as JSON or YAML; - is standard input" },
];

/** Values of `--props` and `--prop`, of which the latter win. Their types are not known yet. */
export interface GivenValues {
  readonly ofFile: Readonly<Record<string, unknown>>;
  readonly texts: Readonly<Record<string, string>>;
}

export async function givenValues(given: Given): Promise<GivenValues> {
  const file = given.text("props");
  const [ofFile = {}] = file === undefined ? [] : await objectsOf(file);
  return { ofFile, texts: pairsOf(given.list("prop"), "--prop") };
}

export const isNothingGiven = ({ ofFile, texts }: GivenValues): boolean =>
  Object.keys(ofFile).length === 0 && Object.keys(texts).length === 0;

/** The values with the types of the props; a name that is no prop yet may be an additional one, and the API checks it. */
export function typedValues({ ofFile, texts }: GivenValues, props: readonly PropDefinition[]): Readonly<Record<string, unknown>> {
  const known = new Map(props.map((prop) => [prop.name, prop]));
  const typed = Object.entries(texts).map(([name, text]) => [name, typedValue(text, known.get(name))] as const);
  return { ...ofFile, ...Object.fromEntries(typed) };
}

/** Types whose values are texts as they are written. */
const isText = (type: string): boolean =>
  type === "string" || type === "file" || (type.startsWith("$.") && !type.endsWith("[]") && !isInterface(type));
const isInterface = (type: string): boolean => /^\$\.(interface|service)\./.test(type);

/** @throws Failure for a text that is no value of the type */
export function typedValue(text: string, prop: PropDefinition | undefined): unknown {
  if (prop === undefined || prop.type === "any") return jsonOr(text, text);
  if (prop.type === "app") return { authProvisionId: text };
  if (prop.type === "data_store") return text.trim().startsWith("{") ? jsonOr(text, text) : { storeId: text };
  if (isText(prop.type)) return text;
  if (prop.type === "$.interface.timer") return timerOf(text);
  if (prop.type === "string[]" || prop.type === "file[]") return jsonOr(text, text.split(","));
  if (prop.type === "sql") return jsonOr(text, text);
  const value = jsonOr(text, undefined);
  if (value === undefined) throw usageFailure(`prop ${prop.name}: "${text}" is not JSON`, exampleFor(prop));
  return prop.type.endsWith("[]") && !Array.isArray(value) ? [value] : value;
}

/** `60` and `60s` are seconds, `*\/5 * * * *` is cron, and JSON is JSON. */
function timerOf(text: string): unknown {
  const [, count = "", unit = ""] = /^(\d+)\s*([smhd]?)$/.exec(text.trim()) ?? [];
  if (count !== "") return { intervalSeconds: Number(count) * ({ m: 60, h: 3_600, d: 86_400 }[unit] ?? 1) };
  return text.trim().startsWith("{") ? jsonOr(text, text) : { cron: text };
}

function jsonOr(text: string, otherwise: unknown): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return otherwise;
  }
}

/** A flag that gives the prop a value. */
export const exampleFor = ({ name, type, options }: PropDefinition): string =>
  `give --prop ${name}=${JSON.stringify(options[0]) === undefined ? exampleValue(type) : "…"}, or --props FILE`;

function exampleValue(type: string): string {
  if (type === "integer" || type === "integer[]") return "1";
  if (type === "boolean") return "true";
  if (type === "app") return "apn_…";
  if (type === "file") return "/tmp/report.pdf";
  if (type === "$.interface.timer") return "60s";
  return type === "object" ? `'{"a":1}'` : "…";
}
