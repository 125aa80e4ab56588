import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import type { z } from "zod";
import {
  encodePart,
  expectToFit,
  isStream,
  jsonSchemaOf,
  makeWorld,
  placesOf,
  tested,
  withWholeApi,
  type Ids,
  type JsonSchema,
  type TestedOperation,
} from "./document-support.ts";

/**
 * The API answers any request as its document says: never with 5xx, and always with a documented status and shape.
 * Method: requests made of the document, each part of them at random either what the document asks for or anything at all.
 * Each run has another seed, which a failure prints. HEADWATER_TEST_SEED repeats one, HEADWATER_TEST_RUNS=10 tries ten times as many.
 */
const api = withWholeApi();
const seed = Number(process.env["HEADWATER_TEST_SEED"] ?? Date.now() % 2 ** 31);
const factor = Number(process.env["HEADWATER_TEST_RUNS"] ?? 1);

let world: Ids = {};
beforeAll(async () => {
  world = await makeWorld(api);
});

interface Fuzzed {
  readonly route: string;
  /** By place; undefined: what is there. */
  readonly ids: readonly (string | undefined)[];
  readonly query: readonly (readonly [name: string, value: string])[];
  /** Of the request's body, as text. */
  readonly body: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

const strangeTexts = [
  "\0",
  "a\0b",
  "\ud800",
  "💩".repeat(40),
  "\u202egnirts",
  "'; DROP TABLE resource; --",
  "__proto__",
  "constructor",
  "../..",
  "%00",
  "%zz",
  "null",
  "-1",
  "1e9",
  "9".repeat(30),
  " ",
  "x".repeat(5_000),
  "dc_*",
  "$errors",
];
const anyText = fc.oneof(fc.constantFrom(...strangeTexts), fc.string({ unit: "binary", maxLength: 60 }), fc.string({ maxLength: 20 }));
const strangeNumbers = [
  0,
  -0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  Number.MAX_SAFE_INTEGER,
  Number.MAX_VALUE,
  Number.MIN_VALUE,
  -Number.MAX_VALUE,
  253_402_300_800,
  1e21,
];
const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  anyText,
  fc.constantFrom<unknown>(...strangeNumbers, true, false, null, [], {}, [[]]),
  fc.jsonValue({ maxDepth: 4 }),
  fc.integer({ min: 2, max: 200 }).map((depth) => nested(depth)),
  fc.dictionary(anyText, anyText, { maxKeys: 60 }),
);

function nested(depth: number): unknown {
  let value: unknown = "deep";
  for (let n = 0; n < depth; n++) value = n % 2 === 0 ? [value] : { a: value };
  return value;
}

/** What the schema asks for. */
function fitting({
  type,
  anyOf,
  enum: values,
  const: only,
  properties,
  required = [],
  items,
  minLength = 0,
  maxLength = 40,
  minimum,
  maximum,
}: JsonSchema): fc.Arbitrary<unknown> {
  if (only !== undefined) return fc.constant(only);
  if (Array.isArray(values)) return fc.constantFrom<unknown>(...values);
  if (anyOf !== undefined) return fc.oneof(...anyOf.map(fitting));
  switch (Array.isArray(type) ? type[0] : type) {
    case "string":
      return fc.string({ minLength: Number(minLength), maxLength: Math.max(Number(minLength), Math.min(Number(maxLength), 40)) });
    case "integer":
      return fc.integer({ min: Number(minimum ?? -5), max: Math.min(Number(maximum ?? 1_000), 2 ** 31 - 1) });
    case "number":
      return fc.double({ noNaN: true });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(fitting(items ?? anything), { maxLength: 4 });
    case "object":
      if (properties === undefined)
        return fc.dictionary(fc.string({ minLength: 1, maxLength: 10 }), fitting({ type: "string" }), { maxKeys: 4 });
      return fc.record(Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, fitting(schema)])), {
        requiredKeys: [...required],
      });
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

const anything: JsonSchema = {};
const schemaOf = (schema: z.ZodType | undefined): JsonSchema => (schema === undefined ? anything : jsonSchemaOf(schema));

/** An object of these fields: each absent, right, or anything; ids of the world where a right one helps to get further. */
function bodyOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  const right = fitting(schema);
  const fields = Object.entries(schema.properties ?? {});
  const mixed = fc.record(
    Object.fromEntries(
      fields.map(([name, field]) => [name, fc.oneof({ weight: 3, arbitrary: fitting(field) }, { weight: 2, arbitrary: anyValue })]),
    ),
    {
      requiredKeys: [],
    },
  );
  return fc.oneof({ weight: 2, arbitrary: right }, { weight: 4, arbitrary: mixed }, { weight: 1, arbitrary: anyValue });
}

/** Stands for a body over the limit, so that a failure can be read. */
const tooLarge = "too large";
const brokenBodies = [
  "",
  "{",
  "[]",
  "7",
  '"text"',
  "\0",
  '{"a":1,"a":2}',
  '{"__proto__":{"polluted":1}}',
  `{"a":${"[".repeat(9_000)}${"]".repeat(9_000)}}`,
  `{"a":"\\ud800"}`,
  `{"a":1e999}`,
];
const contentTypes = [
  "application/json",
  "application/json; charset=utf-8",
  "application/json; charset=none",
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "multipart/form-data",
  ";",
];

function requestsOf(operation: TestedOperation): fc.Arbitrary<Fuzzed> {
  const id = fc.oneof(
    { weight: 5, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: anyText.filter((text) => !/^\.{0,2}$/.test(text)) },
  );
  const declared = Object.entries({
    ...schemaOf(operation.query).properties,
    ...(operation.bodyOrQuery === true ? schemaOf(operation.body).properties : {}),
  });
  const common = fc.tuple(fc.constantFrom("include", "exclude", "limit", "after", "before", "org_id", "nothing"), anyText);
  const named = declared.map(([name, schema]) => fc.tuple(fc.constant(name), fc.oneof(fitting(schema).map(String), anyText)));
  const body = fc.oneof(
    { weight: 8, arbitrary: bodyOf(schemaOf(operation.body)).map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.constantFrom(...brokenBodies) },
    { weight: 1, arbitrary: fc.constant(tooLarge) },
  );
  return fc.record({
    route: fc.constant(operation.route),
    ids: fc.tuple(...placesOf(operation.path).map(() => id)),
    query: fc.array(fc.oneof(common, ...named), { maxLength: 4 }),
    body:
      operation.method === "GET"
        ? fc.constant(undefined)
        : fc.oneof({ weight: 6, arbitrary: body }, { weight: 1, arbitrary: fc.constant(undefined) }),
    headers: fc
      .oneof({ weight: 9, arbitrary: fc.constant("application/json") }, { weight: 1, arbitrary: fc.constantFrom(...contentTypes) })
      .map((type) => ({ "content-type": type })),
  });
}

function addressOf({ path }: TestedOperation, { ids, query }: Fuzzed): string {
  const filled = placesOf(path).reduce(
    (at, place, index) => at.replace(place, () => place.replace(/:[^/]+$/, () => encodePart(ids[index] ?? world[place] ?? "none"))),
    path,
  );
  return `/v1${filled}?${query.map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`).join("&")}`;
}

const operations = tested.filter((operation) => !isStream(operation));
const byRoute = new Map<string, TestedOperation>(operations.map((operation) => [operation.route, operation]));
const fuzzed = fc.constantFrom(...operations).chain(requestsOf);

test("every request gets a response that fits the document, and never 5xx", { timeout: 600_000 }, async () => {
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(fuzzed, async (request) => {
      const { route, body, headers, query } = request;
      const operation = byRoute.get(route);
      if (operation === undefined) return;
      const raw = body === tooLarge ? "x".repeat(140_000) : body;
      const answer = await api.ask(operation.method, addressOf(operation, request), raw === undefined ? {} : { raw, headers });
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      expect(answer.status, `${operation.route}: ${answer.text.slice(0, 500)}`).toBeLessThan(500);
      expectToFit(operation, answer, isSelected(query, body));
      // What is gone would make every later request a 404.
      if (operation.method === "DELETE" && answer.status === 204) world = await makeWorld(api);
    }),
    { numRuns: 400 * factor, seed, interruptAfterTimeLimit: 480_000 },
  );
  expect((await api.ask("GET", "/v1/users/me")).status).toBe(200);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  expect(api.log.filter((line) => "op" in line && line.op === "http.error")).toEqual([]);
  // Not everything is refused, nor everything taken: else nothing was tried.
  for (const status of [200, 204, 400, 404, 413, 422])
    expect([status, statuses.get(status) ?? 0]).toEqual([status, expect.toSatisfy((count: number) => count >= 2)]);
});

/** Bodies may choose fields as well: what a request reads of its query it reads of its body. */
function isSelected(query: Fuzzed["query"], body = ""): boolean {
  return query.some(([name]) => name === "include" || name === "exclude") || /"(include|exclude)"/.test(body);
}
