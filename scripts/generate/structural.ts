import { z } from "zod";
import { structuralForm } from "../../crds/rules.ts";

/** A node of a structural schema: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema */
export interface Structural {
  readonly description?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Structural>>;
  readonly additionalProperties?: Structural;
  readonly items?: Structural;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly [keyword: string]: unknown;
}

/** Keywords that are copied unchanged, in this order. */
const plain = [
  "description",
  "type",
  "format",
  "nullable",
  "enum",
  "minimum",
  "maximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "maxProperties",
  "default",
  "required",
] as const;
/** Redundant keywords: property names are always strings, and separate definitions have an explicit structural form. */
const dropped = new Set(["$schema", "propertyNames", structuralForm]);
const nested = new Set(["properties", "additionalProperties", "items", "anyOf"]);

/** The schema of user input: fields with defaults are not required. */
export function structuralSchema(schema: z.ZodType): Structural {
  const { $defs = {}, ...root } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return structure(root, "", $defs);
}

type Definitions = Readonly<Record<string, unknown>>;

/** @param definitions of schemas that contain themselves, by an object with a structural form of its own */
function structure(node: unknown, path: string, definitions: Definitions): Structural {
  const given = resolved(asObject(node, path), path, definitions);
  const form = given[structuralForm];
  const source = form === undefined ? withoutSafeBounds(given) : { ...aboutValues(given), ...asObject(form, path) };
  refuseUnknown(source, path);
  const known = plain.filter((keyword) => source[keyword] !== undefined).map((keyword) => [keyword, source[keyword]]);
  const extensions = Object.entries(source).filter(([keyword]) => keyword.startsWith("x-kubernetes-"));
  return {
    ...Object.fromEntries(known),
    ...Object.fromEntries(extensions),
    ...(source["items"] === undefined ? {} : { items: structure(source["items"], `${path}[]`, definitions) }),
    ...(source["additionalProperties"] === undefined
      ? {}
      : { additionalProperties: structure(source["additionalProperties"], `${path}.*`, definitions) }),
    ...(source["properties"] === undefined ? {} : { properties: structureAll(source["properties"], path, definitions) }),
  };
}

function structureAll(properties: unknown, path: string, definitions: Definitions): Record<string, Structural> {
  const all = Object.entries(asObject(properties, path));
  return Object.fromEntries(all.map(([name, node]) => [name, structure(node, `${path}.${name}`, definitions)]));
}

const referencePrefix = "#/$defs/";

function resolved(node: Readonly<Record<string, unknown>>, path: string, definitions: Definitions): Readonly<Record<string, unknown>> {
  const { $ref: reference, ...rest } = node;
  if (typeof reference !== "string" || node[structuralForm] !== undefined) return node;
  return { ...resolved(asObject(definitions[reference.slice(referencePrefix.length)], path), path, definitions), ...rest };
}

/** JavaScript's bounds of safe integers are replaced by the format int64. */
function withoutSafeBounds(node: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { minimum, maximum, ...rest } = node;
  if (minimum !== Number.MIN_SAFE_INTEGER && maximum !== Number.MAX_SAFE_INTEGER) return node;
  return {
    ...rest,
    format: "int64",
    ...(minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
    ...(maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
  };
}

/** Keywords that apply in addition to an explicit form: description, default, rules. */
function aboutValues(node: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const kept = Object.entries(node).filter(
    ([keyword]) => ["description", "default"].includes(keyword) || keyword.startsWith("x-kubernetes-"),
  );
  return Object.fromEntries(kept);
}

/** Rejects unknown keywords, which would otherwise be dropped silently. */
function refuseUnknown(node: Readonly<Record<string, unknown>>, path: string): void {
  const isKnown = (keyword: string): boolean =>
    plain.some((one) => one === keyword) || dropped.has(keyword) || nested.has(keyword) || keyword.startsWith("x-kubernetes-");
  const unknown = Object.keys(node).filter((keyword) => !isKnown(keyword));
  if (unknown.length > 0) throw new Error(`${path}: no structural form of ${unknown.join(", ")}`);
  if (node["anyOf"] !== undefined || Array.isArray(node["type"])) throw new Error(`${path}: a union needs its structural form given`);
  const isFree = node["x-kubernetes-preserve-unknown-fields"] === true || node["x-kubernetes-int-or-string"] === true;
  if (node["type"] === undefined && !isFree) throw new Error(`${path}: a structural schema needs a type`);
}

function asObject(node: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof node === "object" && node !== null && !Array.isArray(node)) return { ...node };
  throw new Error(`${path}: ${JSON.stringify(node)} is no schema`);
}
