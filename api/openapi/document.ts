import { z } from "zod";
import type { Route } from "../http/routing/route-table.ts";
import { errorReferences, errorResponses, errorStatuses } from "./error-answers.ts";
import { commonParameters, meanings, selected } from "./fields.ts";
import { jsonSchemaOf, type JsonSchema, type Schemas } from "./json-schema.ts";
import type { Answer, Operation } from "./operation.ts";
import { administration, operations, type Described, type OperationMap } from "./operations.ts";
import { pathParameters } from "./path-parameters.ts";

const about = `Every request carries \`Authorization: Bearer <API key>\`.
Fields and parameters that are not known are ignored, and \`warnings\` beside \`data\` names them. Where fields of \`data\` are chosen by include or exclude, the others are absent from it.`;

export interface DescribedApi {
  readonly title: string;
  readonly description: string;
  /** In front of the paths of its routes. */
  readonly base: string;
  /** What is sent as `Authorization: Bearer …`. */
  readonly key: string;
  readonly operations: OperationMap;
}

export const publicApi: DescribedApi = { title: "Headwater", description: about, base: "/v1", key: "An API key.", operations };

export const adminApi: DescribedApi = {
  title: "Headwater, administration",
  description:
    "For whoever runs the installation. Every request carries `Authorization: Bearer <admin token>`; API keys do not count here.",
  base: "/admin/v1",
  key: "The admin token.",
  operations: administration,
};

/** The OpenAPI document (3.1) of these routes. One without an operation is in it with its path and method alone. */
export function describeApi(api: DescribedApi, routes: readonly Route[]): object {
  const schemas: Schemas = new Map();
  const paths: Record<string, Record<string, object>> = {};
  const operationOf = ({ method, path }: Route) => api.operations.get(`${method} ${path}`);
  for (const route of routes)
    (paths[templateOf(route.path)] ??= {})[route.method.toLowerCase()] = describe(route, operationOf(route), schemas);
  const responses = errorResponses(schemas);
  const hasClients = routes.some((route) => operationOf(route)?.authentication === "client");
  return {
    openapi: "3.1.1",
    info: { title: api.title, version: "1", description: api.description },
    servers: [{ url: api.base }],
    security: [{ key: [] }],
    tags: [...new Set(routes.flatMap((route) => operationOf(route)?.tag ?? []))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { key: { type: "http", scheme: "bearer", description: api.key }, ...(hasClients ? { client } : {}) },
      parameters: commonOnes(schemas),
      responses,
      schemas: Object.fromEntries([...schemas].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

const client = { type: "http", scheme: "basic", description: "An OAuth client: the id of a user or an API key, and the key." };

const templateOf = (path: string): string => path.replace(/:(\w+)/g, "{$1}");

function describe({ path }: Route, operation: Described | undefined, schemas: Schemas): object {
  if (operation === undefined) return { parameters: pathParameters(path), responses: { default: { description: "Not described." } } };
  const { id, tag, summary, description } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    parameters: [...pathParameters(path), ...parametersOf(operation, schemas)],
    ...(operation.authentication === "client" ? { security: [{ client: [] }, {}] } : {}),
    ...requestBody(operation, schemas),
    responses: { ...answersOf(operation, schemas), ...errorReferences(errorStatuses(path, operation)) },
  };
}

function parametersOf(operation: Operation, schemas: Schemas): readonly object[] {
  const { query, headers = {}, body, bodyOrQuery, means, answers } = operation;
  const isSelected = Object.values(answers).some(hasData);
  return [
    ...queryParameters(query, schemas, means),
    // Which of them must be given is said of the body; here each may be absent.
    ...(bodyOrQuery === true ? queryParameters(body, schemas, means).map((parameter) => ({ ...parameter, required: false })) : []),
    ...(isSelected ? queryParameters(selected, schemas) : []),
    ...Object.entries(headers).map(([name, description]) => ({ name, in: "header", description, schema: { type: "string" } })),
  ];
}

function queryParameters(query: z.ZodObject | undefined, schemas: Schemas, means?: Operation["means"]): readonly object[] {
  const common: Readonly<Record<string, z.ZodType>> = commonParameters.shape;
  return fieldsOf(query, schemas, means).map(({ name, ...field }) =>
    common[name] !== undefined && common[name] === query?.shape[name]
      ? { $ref: `#/components/parameters/${name}` }
      : { name, in: "query", ...field, schema: withoutNone(field.schema) },
  );
}

/** A query cannot say null, and what is empty in it is as good as absent. */
function withoutNone(schema: JsonSchema): JsonSchema {
  const [one, ...others] = schema.anyOf?.filter(({ type, const: only }) => type !== "null" && only !== "") ?? [];
  return one !== undefined && others.length === 0 ? one : schema;
}

interface Field {
  readonly name: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

function fieldsOf(schema: z.ZodObject | undefined, schemas: Schemas, means: Operation["means"] = {}): readonly Field[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = jsonSchemaOf(schema, schemas);
  return Object.entries(properties).map(([name, { description = means[name] ?? meanings[name], ...rest }]) => ({
    name,
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: rest,
  }));
}

function commonOnes(schemas: Schemas): Readonly<Record<string, object>> {
  return Object.fromEntries(fieldsOf(commonParameters, schemas).map((field) => [field.name, { in: "query", ...field }]));
}

function requestBody({ body, bodyOrQuery, takesFiles, means, authentication }: Operation, schemas: Schemas): object {
  if (body === undefined) return {};
  const fields = fieldsOf(body, schemas, means);
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  const properties = Object.fromEntries(
    fields.map(({ name, schema, description }) => [name, { ...schema, ...(description === undefined ? {} : { description }) }]),
  );
  const schema = { type: "object", properties, ...(required.length === 0 ? {} : { required }) };
  return {
    requestBody: {
      required: required.length > 0 && bodyOrQuery !== true,
      ...(bodyOrQuery === true ? { description: "Its fields may be in the query as well; the query wins." } : {}),
      content: {
        ...(authentication === "client" ? { "application/x-www-form-urlencoded": { schema } } : {}),
        "application/json": { schema },
        ...(takesFiles === true ? { "multipart/form-data": { schema: form } } : {}),
      },
    },
  };
}

const form = {
  type: "object",
  description:
    "Each part with a file name is a file of the component under that path; `entry` names the one that exports it. Other fields are those of JSON.",
  properties: { entry: { type: "string" } },
  additionalProperties: { type: "string" },
};

/** Fields are selected within `data`. */
const hasData = (answer: Answer): boolean => answer instanceof z.ZodObject && "data" in answer.shape;

const isSchema = (answer: Answer): answer is z.ZodType => answer !== null && "_zod" in answer;

function answersOf({ answers }: Operation, schemas: Schemas): Readonly<Record<string, object>> {
  return Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, answerOf(answer, schemas)]));
}

function answerOf(answer: Answer, schemas: Schemas): object {
  if (answer === null) return { description: "Done." };
  if (isSchema(answer)) return { description: "Done.", content: { "application/json": { schema: jsonSchemaOf(answer, schemas) } } };
  return { description: answer.description, content: { [answer.contentType]: { schema: { type: "string" } } } };
}
