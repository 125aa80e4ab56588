import { documentedOperations } from "../../api/app.ts";
import { adminOperations } from "../../api/admin/router.ts";
import { noAliases } from "../../api/http/routing/aliases.ts";
import { createApiDocument, describedOperations, type OperationGroups } from "../../api/openapi/document.ts";
import { indent, keyOf, nameOf, typeOf, type JsonSchema } from "./typescript-type.ts";

interface Parameter {
  readonly in: "path" | "query" | "header";
  readonly name: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>>;
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: {
    readonly schemas?: Readonly<Record<string, JsonSchema>>;
    readonly parameters?: Readonly<Record<string, Parameter>>;
  };
}

interface ClientOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: DocumentedOperation;
  readonly document: OpenApiDocument;
}

/** The types and routes of client/, which follow from the two OpenAPI documents. Operations of the admin API have the prefix `admin`. */
export function clientOperations(): string {
  const api = documentOf(documentedOperations);
  const admin = withOwnNames(documentOf(adminOperations), Object.keys(api.components.schemas ?? {}));
  const operations = [
    ...operationsOf(api, "/v1", (id) => id),
    ...operationsOf(admin, "/admin/v1", (id) => `admin${id.slice(0, 1).toUpperCase()}${id.slice(1)}`),
  ];
  const schemas = { ...admin.components.schemas, ...api.components.schemas };
  return [
    "// Written by `npm run generate` from the operations of api/. Changes go there.\n",
    ...Object.entries(schemas).map(([name, schema]) => `export type ${name} = ${typeOf(schema)};\n`),
    "/** Parameters, body and response of each operation, by its id. */",
    `export interface Operations {\n${operations.map((operation) => indent(typesOf(operation))).join("\n")}\n}\n`,
    "/** Method and path of each operation. A stream's response is server-sent events. */",
    `export const routes = {\n${operations.map((operation) => indent(routeOf(operation))).join("\n")}\n} as const;\n`,
  ].join("\n");
}

function documentOf(groups: OperationGroups): OpenApiDocument {
  const description = { title: "", description: "", base: "", key: "" };
  return createApiDocument(description, describedOperations(groups, noAliases)) as OpenApiDocument; // By OpenAPI 3.1.
}

/** Schemas of the admin API that have the name of another schema get the prefix `Admin`. */
function withOwnNames(document: OpenApiDocument, taken: readonly string[]): OpenApiDocument {
  const renamed = taken.filter((name) => document.components.schemas?.[name] !== undefined);
  const text = renamed.reduce(
    (changed, name) => changed.replaceAll(`"#/components/schemas/${name}"`, `"#/components/schemas/Admin${name}"`),
    JSON.stringify(document),
  );
  const { components, ...rest } = JSON.parse(text) as OpenApiDocument; // The same document but for names.
  const schemas = Object.entries(components.schemas ?? {}).map(([name, schema]) => [
    renamed.includes(name) ? `Admin${name}` : name,
    schema,
  ]);
  return { ...rest, components: { ...components, schemas: Object.fromEntries(schemas) as Readonly<Record<string, JsonSchema>> } };
}

function operationsOf(document: OpenApiDocument, base: string, idOf: (id: string) => string): readonly ClientOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: idOf(operation.operationId),
      method: method.toUpperCase(),
      path: base + path,
      operation,
      document,
    })),
  );
}

function typesOf({ id, operation, document }: ClientOperation): string {
  const parameters = (operation.parameters ?? []).map((parameter) => resolve(parameter, document));
  const fields = [
    `readonly path: ${parameterTypes(parameters.filter((parameter) => parameter.in === "path"))};`,
    `readonly query: ${parameterTypes(parameters.filter((parameter) => parameter.in === "query"))};`,
    `readonly body: ${schemaTypes([operation.requestBody?.content?.["application/json"]?.schema], "undefined")};`,
    `readonly response: ${schemaTypes(successes(operation).map(jsonOf), "undefined")};`,
  ];
  return `/** ${operation.summary} */\nreadonly ${id}: {\n${fields.map(indent).join("\n")}\n};`;
}

function routeOf({ id, method, path, operation }: ClientOperation): string {
  const isStream = successes(operation).some(({ content }) => content !== undefined && "text/event-stream" in content);
  return `${id}: { method: "${method}", path: "${path}", isStream: ${isStream} },`;
}

const successes = ({ responses }: DocumentedOperation): readonly Content[] =>
  Object.entries(responses).flatMap(([status, response]) => (status.startsWith("2") ? [response] : []));

const jsonOf = ({ content }: Content): JsonSchema | undefined => content?.["application/json"]?.schema;

function schemaTypes(schemas: readonly (JsonSchema | undefined)[], none: string): string {
  const types = schemas.map((schema) => (schema === undefined ? none : typeOf(schema)));
  return types.length === 0 ? none : [...new Set(types)].join(" | ");
}

function parameterTypes(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return "Readonly<Record<string, never>>";
  return `{ ${parameters.map(parameterType).join(" ")} }`;
}

function parameterType({ name, required = false, schema }: Parameter): string {
  const type = typeOf(schema);
  return `readonly ${keyOf(name)}${required ? "" : "?"}: ${required || type === "unknown" ? type : `${type} | undefined`};`;
}

function resolve(parameter: Parameter | { readonly $ref: string }, document: OpenApiDocument): Parameter {
  if (!("$ref" in parameter)) return parameter;
  const found = document.components.parameters?.[nameOf(parameter.$ref)];
  if (found === undefined) throw new Error(`the document has no parameter ${parameter.$ref}`);
  return found;
}
