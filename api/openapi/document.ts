import { z } from "zod";
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiOverride, type ZodOpenApiResponseObject } from "zod-openapi";
import type { AliasesOf } from "../http/routing/aliases.ts";
import { parseRoute, type OperationDocument, type ResponseBody, type Route, type RouteName } from "../http/routing/operation.ts";
import { fieldParameters } from "../http/request/parameters.ts";
import { errorResponses, errorStatuses } from "./error-responses.ts";
import { pathParameters } from "./path-parameters.ts";

export interface ApiDescription {
  readonly title: string;
  readonly description: string;
  /** Prefix of the paths of its operations. */
  readonly base: string;
  /** Description of the token in `Authorization: Bearer …`. */
  readonly key: string;
}

/** An operation at one of its paths. */
export interface DescribedOperation extends OperationDocument {
  readonly tag: string;
  readonly method: Route["method"];
  readonly path: string;
  /** `METHOD /path` of the operation, if this path is an alias. */
  readonly aliasOf?: string;
}

/** Operations by the tag under which the document lists them. */
export type OperationGroups = Readonly<Record<string, readonly OperationDocument[]>>;

/** All operations, then all their aliases, which the document lists under a tag of their own. */
export function describedOperations(groups: OperationGroups, aliasesOf: AliasesOf): readonly DescribedOperation[] {
  const own = Object.entries(groups).flatMap(([tag, operations]) =>
    operations.map((operation) => ({ ...operation, ...parseRoute(operation.route), tag })),
  );
  return [...own, ...own.flatMap((operation) => aliasOperations(operation, aliasesOf))];
}

/** An alias has the parameters and responses of its operation. Different encodings of a path are not listed. */
function aliasOperations(operation: DescribedOperation, aliasesOf: AliasesOf): readonly DescribedOperation[] {
  const { id, route } = operation;
  return aliasesOf(route)
    .filter(({ isEncoding }) => !isEncoding)
    .map(({ path }) => ({
      ...operation,
      path,
      route: `${operation.method} ${path}` as RouteName, // Paths begin with a slash.
      id: `${id}Alias`,
      tag: "Aliases",
      aliasOf: route,
      description: `Another path of \`${route}\`.`,
    }));
}

/** Creates the OpenAPI document (3.1) of an API. */
export function createApiDocument(api: ApiDescription, operations: readonly DescribedOperation[]): object {
  const errors = errorResponses();
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const operation of operations)
    (paths[templateOf(operation.path)] ??= {})[operation.method.toLowerCase()] = describe(operation, errors);
  const hasClients = operations.some(({ authentication }) => authentication === "client");
  const document = createDocument(
    {
      openapi: "3.1.1",
      info: { title: api.title, version: "1", description: api.description },
      servers: [{ url: api.base }],
      security: [{ key: [] }],
      tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
      paths,
      components: {
        securitySchemes: { key: { type: "http", scheme: "bearer", description: api.key }, ...(hasClients ? { client } : {}) },
      },
    },
    { override: simplify },
  );
  const parameters = [
    ...Object.values(document.components?.parameters ?? {}),
    ...Object.values(document.paths ?? {}).flatMap((path) => Object.values(path).flatMap(({ parameters: own = [] }) => own)),
  ];
  for (const parameter of parameters) if ("schema" in parameter) parameter.schema = parameterSchema(parameter.schema);
  return document;
}

/** The schema of a parameter, whose description is that of the parameter. Parameters cannot be null, and empty ones count as absent. */
function parameterSchema({ anyOf, description: _, ...schema }: ParameterSchema): object {
  const [one, ...others] = anyOf?.filter(({ type, const: value }) => type !== "null" && value !== "") ?? [];
  return one !== undefined && others.length === 0 ? { ...one, ...schema } : { ...(anyOf === undefined ? {} : { anyOf }), ...schema };
}

interface ParameterSchema {
  readonly anyOf?: readonly { readonly type?: unknown; readonly const?: unknown }[];
  readonly description?: string;
}

const client = {
  type: "http",
  scheme: "basic",
  description: "An OAuth client: the id of a user or an API key, and the API key as its secret.",
} as const;

/** Omits what the code means and clients cannot use: bounds of JavaScript's integers, and that responses have no other fields. */
const simplify: ZodOpenApiOverride = ({ jsonSchema, io }) => {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  // Responses may gain fields.
  if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
};

const templateOf = (path: string): string => path.replace(/:(\w+)/g, "{$1}");

function describe(operation: DescribedOperation, errorOf: (status: number) => ZodOpenApiResponseObject): ZodOpenApiOperationObject {
  const { id, tag, summary, description, path, authentication, responses, headers = {} } = operation;
  const query = queryOf(operation);
  const header = Object.entries(headers).map(([name, about]) => [name, z.string().optional().describe(about)]);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    requestParams: {
      path: pathParameters(path),
      ...(query === undefined ? {} : { query }),
      ...(header.length === 0 ? {} : { header: z.object(Object.fromEntries(header)) }),
    },
    ...(authentication === "client" ? { security: [{ client: [] }, {}] } : {}),
    ...requestBody(operation),
    responses: {
      ...Object.fromEntries(Object.entries(responses).map(([status, body]) => [status, responseOf(body)])),
      ...Object.fromEntries(errorStatuses(operation).map((status) => [status, errorOf(status)])),
    },
  };
}

/** The query parameters, including fields of the body that may be given there, and the selection of fields of `data`. */
function queryOf({ query, body, bodyOrQuery, responses }: OperationDocument): z.ZodObject | undefined {
  const shape = {
    ...query?.shape,
    // The body's schema says which of them are required; as parameters all are optional.
    ...(bodyOrQuery === true && body !== undefined ? optionalFields(body) : {}),
    ...(Object.values(responses).some(hasData) ? fieldParameters.shape : {}),
  };
  return Object.keys(shape).length === 0 ? undefined : z.object(shape);
}

const optionalFields = (body: z.ZodObject): z.core.$ZodLooseShape =>
  Object.fromEntries(
    Object.entries(body.shape).map(([name, field]) => [name, z.optional(field).describe(z.globalRegistry.get(field)?.description ?? "")]),
  );

const hasData = (body: ResponseBody): boolean => body instanceof z.ZodObject && "data" in body.shape;

function requestBody({ body, bodyOrQuery, takesFiles, authentication }: OperationDocument): Pick<ZodOpenApiOperationObject, "requestBody"> {
  if (body === undefined) return {};
  const required = Object.values(body.shape).some((field) => field._zod.optin === undefined);
  return {
    requestBody: {
      required: required && bodyOrQuery !== true,
      ...(bodyOrQuery === true ? { description: "The fields may also be query parameters, which take precedence." } : {}),
      content: {
        ...(authentication === "client" ? { "application/x-www-form-urlencoded": { schema: body } } : {}),
        "application/json": { schema: body },
        ...(takesFiles === true ? { "multipart/form-data": { schema: componentForm } } : {}),
      },
    },
  };
}

const componentForm = {
  type: "object",
  description:
    "Each part with a file name is a file of the component under that path. `entry` names the file that exports the component. All other fields are those of the JSON body.",
  properties: { entry: { type: "string" } },
  additionalProperties: { type: "string" },
} as const;

function responseOf(body: ResponseBody): ZodOpenApiResponseObject {
  if (body === null) return { description: "Done." };
  if ("_zod" in body) return { description: "Done.", content: { "application/json": { schema: body } } };
  return { description: body.description, content: { [body.contentType]: { schema: { type: "string" } } } };
}
