import { validations } from "../../crds/rules.ts";
import type { Structural } from "./structural.ts";

/** A row of a table of fields. */
export interface Field {
  /** `a.b`, `a[].b` within a list, `a.<name>.b` within values by name. */
  readonly path: string;
  /** Type with bounds, for readers. */
  readonly type: string;
  readonly isRequired: boolean;
  readonly fallback: unknown;
  readonly description: string;
  /** The messages of its rules. */
  readonly rules: readonly string[];
}

/** Every field below a schema, parents before their children. */
export function fieldsOf(schema: Structural, prefix = ""): readonly Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, node]) => {
    const path = prefix === "" ? name : `${prefix}.${name}`;
    return [fieldOf(path, node, (schema.required ?? []).includes(name)), ...below(node, path)];
  });
}

function below(node: Structural, path: string): readonly Field[] {
  const { items, additionalProperties } = node;
  if (items !== undefined) return [...elementOf(items, `${path}[]`), ...below(items, `${path}[]`)];
  if (additionalProperties === undefined) return fieldsOf(node, path);
  return [...elementOf(additionalProperties, `${path}.<name>`), ...below(additionalProperties, `${path}.<name>`)];
}

/** A row for the elements of a list, if they have a description. */
function elementOf(node: Structural, path: string): readonly Field[] {
  const field = fieldOf(path, node, false);
  return field.description === "" && field.rules.length === 0 ? [] : [field];
}

function fieldOf(path: string, node: Structural, isRequired: boolean): Field {
  return { path, type: typeOf(node), isRequired, fallback: node.default, description: node.description ?? "", rules: messagesOf(node) };
}

export function messagesOf(node: Structural): readonly string[] {
  const rules: unknown = node[validations];
  return Array.isArray(rules)
    ? rules.map((rule: { message: string; fieldPath?: string }) =>
        rule.fieldPath === undefined ? rule.message : `\`${rule.fieldPath.slice(1)}\`: ${rule.message}`,
      )
    : [];
}

function typeOf(node: Structural): string {
  const { type, items, additionalProperties, enum: values } = node;
  if (Array.isArray(values)) return values.map((value) => `\`${String(value)}\``).join(" or ");
  if (node["x-kubernetes-int-or-string"] === true) return "number or string";
  if (type === undefined) return `any${bounds(node)}`;
  if (items !== undefined) return `list of ${kindOf(items)}${bounds(node)}`;
  if (additionalProperties !== undefined) return `${kindOf(additionalProperties)} by name${bounds(node)}`;
  return `${node["format"] === "date-time" ? "time" : type}${bounds(node)}`;
}

/** The type without bounds: bounds of elements have their own row. */
const kindOf = (node: Structural): string => (node["x-kubernetes-int-or-string"] === true ? "number or string" : (node.type ?? "any"));

const amount = (value: unknown): string => (typeof value === "number" ? value.toLocaleString("en") : String(value));

function bounds(node: Structural): string {
  const { minimum, maximum, maxLength, maxItems, maxProperties } = node;
  if (minimum !== undefined && maximum !== undefined) return `, ${amount(minimum)} to ${amount(maximum)}`;
  if (maxLength !== undefined) return `, at most ${amount(maxLength)} characters`;
  if (maxItems !== undefined) return `, at most ${amount(maxItems)}`;
  return maxProperties === undefined ? "" : `, at most ${amount(maxProperties)}`;
}
