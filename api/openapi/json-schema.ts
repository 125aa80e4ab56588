import { z } from "zod";
import { flag, itemCount } from "../http/request/parameters.ts";

/** The schemas that have a name, as the document lists them. */
export type Schemas = Map<string, object>;

export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly [keyword: string]: unknown;
}

/**
 * What a value must be to be read by the schema (`io: "input"`: transforms come later), as JSON Schema. Schemas with an id are put
 * into `schemas`, and referred to.
 */
export function jsonSchemaOf(schema: z.ZodType, schemas: Schemas): JsonSchema {
  const made = known.get(schema) ?? convert(schema);
  known.set(schema, made);
  for (const [id, definition] of made.named) schemas.set(id, definition);
  return made.schema;
}

interface Converted {
  readonly schema: JsonSchema;
  readonly named: readonly (readonly [id: string, JsonSchema])[];
}

/** Many operations share theirs, and each takes a millisecond or two. */
const known = new WeakMap<z.ZodType, Converted>();

function convert(schema: z.ZodType): Converted {
  // Within another, even a schema with an id is a reference.
  const wrapped = z.toJSONSchema(z.object({ it: schema }), { io: "input", override: simplify });
  return {
    schema: referring(wrapped.properties?.["it"] ?? {}),
    named: Object.entries(wrapped.$defs ?? {}).map(([id, definition]) => [id, referring(definition)]),
  };
}

/** Flags and counts are read as a query writes them, too; the document shows the plain type. It shows no bounds that say nothing. */
function simplify({ zodSchema, jsonSchema }: { readonly zodSchema: unknown; readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (zodSchema === flag) {
    delete jsonSchema.anyOf;
    jsonSchema.type = "boolean";
  }
  if (zodSchema === itemCount) {
    delete jsonSchema.anyOf;
    jsonSchema.type = "integer";
    jsonSchema.minimum = 1;
  }
  // Every integer is one that JavaScript can hold.
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

/** The document keeps its schemas elsewhere than a schema by itself does. */
function referring(schema: object | boolean): JsonSchema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as JsonSchema; // JSON of one
}
