import { z } from "zod";
import { nestedNames } from "./nested-names.ts";
import type { KnownNames } from "./recognized-names.ts";

interface Named {
  readonly route: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  readonly responses: Readonly<Record<number, unknown>>;
  readonly changesNoResource?: true;
  readonly neverEmpty?: readonly string[];
}

/** The names that an operation knows: its parameters, the fields of its body, and the fields of its response's `data`. */
export function knownNames(operation: Named, base: string, path: string): KnownNames {
  const { route, query, body, responses, changesNoResource, neverEmpty = [] } = operation;
  const [method = ""] = route.split(" ");
  const data = Object.values(responses).flatMap((response) => (response instanceof z.ZodObject ? [response.shape["data"]] : []));
  return {
    operation: `${method} ${base}${path.replace(/:(\w+)/g, "{$1}")}`,
    query: Object.keys(query?.shape ?? {}),
    body: Object.keys(body?.shape ?? {}),
    nested: nestedNames(body),
    fields: fieldsOf(data),
    changesNoResource: changesNoResource === true,
    neverEmpty,
  };
}

/** Fields of objects with these schemas; undefined if there may be others. */
function fieldsOf(schemas: readonly unknown[]): readonly string[] | undefined {
  const fields = schemas.map((schema) => {
    if (schema instanceof z.ZodArray) return fieldsOf([schema.element]);
    if (schema instanceof z.ZodUnion) return fieldsOf(schema.options);
    return schema instanceof z.ZodObject && schema.def.catchall === undefined ? Object.keys(schema.shape) : undefined;
  });
  const known = fields.filter((each) => each !== undefined);
  return known.length === 0 || known.length < fields.length ? undefined : [...new Set(known.flat())];
}
