import { z } from "zod";
import type { KnownNames } from "../http/request/recognized-names.ts";
import type { KnownNamesOf } from "../http/routing/route-table.ts";
import type { DescribedApi } from "./document.ts";
import type { Operation } from "./operation.ts";

/** What the operations of an API know by name: their parameters, fields of their bodies, and fields of their answers. */
export function knownNames({ base, operations }: Pick<DescribedApi, "base" | "operations">): KnownNamesOf {
  return ({ method, path }) => {
    const operation = operations.get(`${method} ${describedPath(path)}`);
    return operation === undefined ? undefined : namesOf(`${method} ${base}${path.replace(/:(\w+)/g, "{$1}")}`, operation);
  };
}

/** A path that only encodes another one differently is not described. */
const describedPath = (path: string): string => path.replaceAll("%24", "$");

function namesOf(name: string, { query, body, answers, onlyReads }: Operation): KnownNames {
  const data = Object.values(answers).flatMap((answer) => (answer instanceof z.ZodObject ? [answer.shape["data"]] : []));
  const [ofQuery, ofBody] = [Object.keys(query?.shape ?? {}), Object.keys(body?.shape ?? {})];
  return { operation: name, query: ofQuery, body: ofBody, fields: fieldsOf(data), onlyReads: onlyReads === true };
}

/** Fields of the things that are answered; undefined where there may be others. */
function fieldsOf(schemas: readonly unknown[]): readonly string[] | undefined {
  const fields = schemas.map((schema) => {
    if (schema instanceof z.ZodArray) return fieldsOf([schema.element]);
    if (schema instanceof z.ZodUnion) return fieldsOf(schema.options);
    return schema instanceof z.ZodObject && schema.def.catchall === undefined ? Object.keys(schema.shape) : undefined;
  });
  const known = fields.filter((each) => each !== undefined);
  return known.length === 0 || known.length < fields.length ? undefined : [...new Set(known.flat())];
}
