import { describe, expect, test } from "vitest";
import { z } from "zod";
import { operation as declare } from "../../../api/context.ts";
import { retriedSchema } from "../../../api/deliveries/schemas.ts";
import { accepted } from "../../../api/http/response/replies.ts";
import { inProgress } from "../../../api/http/response/schemas.ts";
import { described, withWholeApi } from "./document-support.ts";

const api = withWholeApi();

const reference = z.strictObject({ $ref: z.string().startsWith("#/components/") });
/** JSON Schema, as far as ours go: an unknown keyword is a mistake in how the document is made. */
const schema: z.ZodType = z.lazy(() =>
  z.union([
    reference,
    z.strictObject({
      type: z.union([z.string(), z.array(z.string())]).optional(),
      properties: z.record(z.string(), schema).optional(),
      required: z.array(z.string()).min(1).optional(),
      additionalProperties: schema.optional(),
      propertyNames: schema.optional(),
      items: schema.optional(),
      anyOf: z.array(schema).min(1).optional(),
      enum: z.array(z.unknown()).min(1).optional(),
      const: z.unknown().optional(),
      default: z.unknown().optional(),
      description: z.string().min(1).optional(),
      pattern: z.string().optional(),
      format: z.literal("date-time").optional(),
      minLength: z.int().optional(),
      maxLength: z.int().optional(),
      minItems: z.int().optional(),
      maxItems: z.int().optional(),
      minimum: z.number().optional(),
      maximum: z.number().optional(),
    }),
  ]),
);
const content = z.record(z.string(), z.strictObject({ schema }));
const parameter = z.strictObject({
  name: z.string(),
  in: z.enum(["path", "query", "header"]),
  required: z.boolean().optional(),
  description: z.string().min(1),
  schema,
});
const response = z.strictObject({
  description: z.string().min(1),
  headers: z.record(z.string(), z.strictObject({ description: z.string(), schema })).optional(),
  content: content.optional(),
});
const operation = z.strictObject({
  operationId: z.string().regex(/^[a-z][A-Za-z]+$/),
  tags: z.array(z.string()).length(1),
  summary: z.string().min(1),
  description: z.string().min(1).optional(),
  parameters: z.array(z.union([reference, parameter])),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  requestBody: z.strictObject({ required: z.boolean(), description: z.string().optional(), content }).optional(),
  responses: z.record(z.string().regex(/^[2-5]\d\d$/), z.union([reference, response])),
});
/** OpenAPI 3.1, as far as we use it. */
const openApi = z.strictObject({
  openapi: z.literal("3.1.1"),
  info: z.strictObject({ title: z.string(), version: z.string(), description: z.string() }),
  servers: z.array(z.strictObject({ url: z.string() })),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  tags: z.array(z.strictObject({ name: z.string() })),
  paths: z.record(z.string().startsWith("/"), z.partialRecord(z.enum(["get", "post", "put", "delete"]), operation)),
  components: z.strictObject({
    securitySchemes: z.strictObject({
      key: z.looseObject({ type: z.literal("http"), scheme: z.literal("bearer") }),
      client: z.looseObject({ type: z.literal("http"), scheme: z.literal("basic") }),
    }),
    parameters: z.record(z.string(), parameter),
    responses: z.record(z.string(), response),
    schemas: z.record(z.string(), schema),
  }),
});

async function served(): Promise<z.infer<typeof openApi>> {
  const { status, body } = await api.ask("GET", "/v1/openapi.json", { key: null });
  expect(status).toBe(200);
  return body;
}

const operationsOf = (document: z.infer<typeof openApi>) =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`,
      path,
      operation,
    })),
  );

describe("the document", () => {
  test("has exactly the mounted operations", async () => {
    const inDocument = operationsOf(await served());
    expect(inDocument.filter((each) => each.operation.summary === undefined).map(({ route }) => route)).toEqual([]);
    expect(inDocument.map(({ route }) => route).toSorted()).toEqual(described.map(({ route }) => route).toSorted());
  });

  test("conforms to OpenAPI 3.1", async () => {
    expect(openApi.parse(await served())).toBeTruthy();
  });

  test("has no dangling references and no unused components", async () => {
    const document = await served();
    const found = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/([^"]+)"/g);
    const { parameters, responses, schemas } = document.components;
    const held = Object.entries({ parameters, responses, schemas }).flatMap(([kind, all]) =>
      Object.keys(all).map((name) => `${kind}/${name}`),
    );
    expect([...new Set([...found].map(([, name]) => name))].toSorted()).toEqual(held.toSorted());
  });

  test("names the parameters of each path, and each operation once", async () => {
    const inDocument = operationsOf(await served());
    for (const { path, operation: each } of inDocument) {
      const named = each.parameters.flatMap((one) => ("name" in one && one.in === "path" ? [one.name] : []));
      expect([path, named]).toEqual([path, [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)]);
    }
    expect(new Set(inDocument.map((each) => each.operation.operationId)).size).toBe(inDocument.length);
  });

  test("describes each field of a request", async () => {
    const document = await served();
    const missing = operationsOf(document).flatMap(({ route, operation }) => {
      const body = operation.requestBody?.content["application/json"]?.schema as
        | { properties?: Record<string, { description?: string }> }
        | undefined; // a schema
      return Object.entries(body?.properties ?? {}).flatMap(([name, { description }]) =>
        description === undefined ? [`${route} ${name}`] : [],
      );
    });
    expect(missing).toEqual([]);
  });

  test("needs no key, and allows only GET", async () => {
    const { status, headers } = await api.ask("POST", "/v1/openapi.json", { key: null });
    expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect((await api.ask("GET", "/v1/openapi.json/", { key: null })).headers.get("content-type")).toContain("application/json");
  });
});

describe("the page", () => {
  test("is served with its files, under a policy that forbids inline scripts and other servers", async () => {
    const { status, text, headers } = await api.ask("GET", "/docs", { key: null });
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers.get("cache-control")).toBe("no-store");
    // Nothing that the policy would refuse: no script or style within, no handler, no style attribute.
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/);
    const files = [...text.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)].map(([, file = ""]) => file);
    expect(files).toEqual(["/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js", "/docs/page.js"]);
    const served = await Promise.all(files.map(async (file) => api.ask("GET", file, { key: null })));
    expect(served.map((each) => each.headers.get("content-type"))).toEqual([
      "text/css; charset=utf-8",
      "text/javascript; charset=utf-8",
      "text/javascript; charset=utf-8",
    ]);
  });

  test("does not send the document's address to a validator", async () => {
    expect((await api.ask("GET", "/docs/page.js", { key: null })).text).toContain("validatorUrl: null");
  });

  test("returns 404 for any other file", async () => {
    for (const path of ["/docs/none.js", "/docs/package.json", "/docs/..%2fdocument.ts", "/docs/%2e%2e/routes.ts", "/docs/../page/"])
      expect([path, (await api.ask("GET", path, { key: null })).status]).toEqual([path, 404]);
  });
});

test("forbids scripts in responses of the API itself", async () => {
  const { headers } = await api.ask("GET", "/v1/openapi.json", { key: null });
  expect(headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
});

test("does not compile an operation whose response differs from its schema", () => {
  const retried = { delivery_id: "d", webhook_id: "w", status: "queued" } as const;
  const declaration = { route: "POST /retry", id: "retry", summary: "Retry", responses: inProgress(retriedSchema) } as const;
  const valid = declare({ ...declaration, handle: async () => accepted(retried) });
  // @ts-expect-error -- the schema does not have this status
  const invalid = declare({ ...declaration, handle: async () => accepted({ ...retried, status: "lost" }) });
  expect([valid, invalid]).toHaveLength(2);
});
