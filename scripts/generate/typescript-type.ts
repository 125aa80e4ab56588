/** The parts of JSON schema that the OpenAPI document uses. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
}

/** The TypeScript type of the values that a JSON schema describes. A reference becomes the name of the schema. */
export function typeOf(schema: JsonSchema): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)));
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return union(alternatives.map(typeOf));
  if (schema.allOf !== undefined) return schema.allOf.map((part) => `(${typeOf(part)})`).join(" & ");
  const { type } = schema;
  return typeof type === "object" ? union(type.map((name) => typeOfName(name, schema))) : typeOfName(type, schema);
}

function typeOfName(name: string | undefined, schema: JsonSchema): string {
  switch (name) {
    case "integer":
    case "number":
      return "number";
    case "string":
    case "boolean":
    case "null":
      return name;
    case "array":
      return `readonly (${schema.items === undefined ? "unknown" : typeOf(schema.items)})[]`;
    case "object":
      return objectType(schema);
    default:
      return "unknown";
  }
}

function objectType({ properties, required = [], additionalProperties }: JsonSchema): string {
  const values = typeof additionalProperties === "object" ? typeOf(additionalProperties) : "unknown";
  if (properties === undefined) return `Readonly<Record<string, ${values}>>`;
  const fields = Object.entries(properties).map(([name, field]) => {
    const comment = field.description === undefined ? "" : `/** ${field.description.replaceAll("*/", "*\\/").replaceAll(/\s+/g, " ")} */ `;
    const isRequired = required.includes(name);
    const type = typeOf(field);
    // Clients may name an optional field and leave it undefined.
    return `${comment}readonly ${keyOf(name)}${isRequired ? "" : "?"}: ${isRequired || type === "unknown" ? type : `${type} | undefined`};`;
  });
  return fields.length === 0 ? "Readonly<Record<string, never>>" : `{\n${fields.map(indent).join("\n")}\n}`;
}

export const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf("/") + 1);
export const keyOf = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));
export const indent = (text: string): string => text.replaceAll(/^/gm, "  ");

/** With `unknown`, the other types add nothing. */
const union = (types: readonly string[]): string => (types.includes("unknown") ? "unknown" : [...new Set(types)].join(" | "));
