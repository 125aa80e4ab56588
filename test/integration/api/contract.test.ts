import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { errorSchema } from "../../../api/http/response/errors.ts";
import { pathParameters } from "../../../api/openapi/path-parameters.ts";
import {
  expectToFit,
  idsFor,
  isStream,
  jsonSchemaOf,
  makeWorld,
  pathWith,
  placesOf,
  tested,
  withWholeApi,
  type Ids,
  type JsonSchema,
  type TestedOperation,
} from "./document-support.ts";
import { keys, type Answer, type Ask } from "./support.ts";

const api = withWholeApi();
let world: Ids = {};
beforeAll(async () => {
  world = await makeWorld(api);
});

interface Valid {
  readonly query?: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Requests that are right, where an empty one is not. */
const valid: Readonly<Record<string, (ids: Ids) => Valid>> = {
  "POST /components": () => ({ body: { component_code: "name: Saved" } }),
  "POST /components/:key/options": () => ({ body: { prop_name: "city", page: 1 } }),
  "POST /sources": () => ({ body: { component_code: "name: Deployed; props: timer city", configured_props: { city: "Graz" } } }),
  "POST /sources/test": () => ({ body: { component_code: "name: Tested; props: timer city", configured_props: { city: "Graz" } } }),
  "PUT /sources/:id": () => ({ body: { name: "another" } }),
  "POST /sources/:id/options": () => ({ body: { prop_name: "city" } }),
  "POST /sources/:id/runs/:run_id/debug": () => ({ body: { current_version: true } }),
  "POST /workflows": () => ({ body: { name: "Made", steps: [{ name: "a", component_code: "name: A; type: action" }] } }),
  "POST /workflows/:workflow_id/steps/:step/options": () => ({ body: { prop_name: "city" } }),
  "POST /workflows/:workflow_id/runs/:run_id/repeat": () => ({ body: { from: "first" } }),
  "POST /workflows/:workflow_id/triggers/:trigger_id/backfill": () => ({ body: { from: "2026-01-01T00:00:00Z", to: 1_767_400_000_000 } }),
  "PUT /workflows/:workflow_id": () => ({ body: { name: "another" } }),
  "POST /namespaces": () => ({ body: { name: "team-b" } }),
  "POST /users/me/keys": () => ({ body: { name: "another", scopes: ["read"] } }),
  "PUT /users/me": () => ({ body: { error_mails: false } }),
  "POST /orgs": () => ({ body: { name: "Made" } }),
  "PUT /orgs/:org_id": () => ({ body: { error_mails: false } }),
  "POST /orgs/:org_id/members": () => ({ body: { username: "unknown" } }),
  "PUT /orgs/:org_id/members/:user_id": () => ({ body: { role: "member" } }),
  "POST /apps": () => ({ body: { name_slug: "valid_app", name: "Valid", auth_type: "none" } }),
  "PUT /apps/:slug": () => ({ body: { name: "another" } }),
  "POST /oauth_clients": () => ({ body: { app: "github", client_id: "c" } }),
  "PUT /oauth_clients/:id": () => ({ body: { name: "another" } }),
  "PUT /variables/:name": () => ({ body: { value: "eu" } }),
  "POST /data_stores": () => ({ body: { name: "Made" } }),
  "PUT /data_stores/:id": () => ({ body: { description: null } }),
  "PUT /data_stores/:id/entries/:key": () => ({ body: { value: { a: [1] }, ttl: 60 } }),
  "POST /accounts": () => ({ body: { app: "shop", name: "Shop", credentials: { api_key: "k" } } }),
  "PUT /accounts/:id": () => ({ body: { credentials: { api_key: null, token: "u" } } }),
  "POST /webhooks": () => ({ body: { url: "https://valid.test/" } }),
  "PUT /webhooks/:id": () => ({ body: { name: null, active: true } }),
  "POST /sources/:id/replays": (ids) => ({ body: { listener_id: ids["webhooks/:id"], event_name: "c" } }),
  "GET /metrics": (ids) => ({ query: `ids=${ids["sources/:id"]},${ids["webhooks/:id"]}&step=hour` }),
  "POST /subscriptions": (ids) => ({ body: { emitter_id: ids["sources/:id"], listener_id: ids["webhooks/:id"], event_name: "c" } }),
  "DELETE /subscriptions": (ids) => ({ query: `emitter_id=${ids["sources/:id"]}&listener_id=${ids["webhooks/:id"]}` }),
  "POST /auto_subscriptions": (ids) => ({ body: { listener_id: ids["webhooks/:id"], event_name: "$logs" } }),
  "DELETE /auto_subscriptions": (ids) => ({ query: `listener_id=${ids["webhooks/:id"]}&event_name=$logs` }),
};

const validOf = ({ route, aliasOf = route }: TestedOperation, ids: Ids): Valid => valid[aliasOf]?.(ids) ?? {};

async function send(operation: TestedOperation, path: string, ask: Ask = {}): Promise<Answer> {
  const answer = await api.ask(operation.method, path, ask);
  expectToFit(operation, answer);
  return answer;
}

/** With ids of the world and, unless it says otherwise, all that is right. */
async function sendTo(operation: TestedOperation, ids: Ids, { query, body }: Valid = {}): Promise<Answer> {
  const right = validOf(operation, ids);
  const asked = `${pathWith(operation.path, idsFor(operation, ids))}?${query ?? right.query ?? ""}`;
  const sent = body ?? right.body ?? (operation.body === undefined ? undefined : {});
  return send(operation, asked, sent === undefined ? {} : { body: sent });
}

/** Resources in use cannot be deleted, so these operations get unused ones. */
async function unusedFor({ route, aliasOf = route }: TestedOperation): Promise<Ids> {
  const made = async (path: string, body: object): Promise<string> => (await api.ask("POST", path, { body })).body.data.id;
  if (aliasOf === "DELETE /components/:key") return { "components/:key": await made("/v1/components", { component_code: "name: Unused" }) };
  if (aliasOf === "DELETE /sources/:id") return { "sources/:id": await made("/v1/sources", { component_code: "name: Unused" }) };
  if (aliasOf === "DELETE /apps/:slug")
    return { "apps/:slug": await made("/v1/apps", { name_slug: "unused", name: "Unused", auth_type: "none" }) };
  if (aliasOf === "DELETE /oauth_clients/:id")
    return { "oauth_clients/:id": await made("/v1/oauth_clients", { app: "gitlab", client_id: "unused" }) };
  if (aliasOf === "DELETE /data_stores/:id") return { "data_stores/:id": await made("/v1/data_stores", { name: "Unused" }) };
  if (aliasOf === "DELETE /data_stores/:id/entries/:key") {
    const store = await made("/v1/data_stores", { name: "Unused" });
    await api.ask("PUT", `/v1/data_stores/${store}/entries/unused`, { body: { value: 1 } });
    return { "data_stores/:id": store, "entries/:key": "unused" };
  }
  if (aliasOf === "DELETE /variables/:name") {
    await api.ask("PUT", "/v1/variables/UNUSED", { body: { value: "x" } });
    return { "variables/:name": "UNUSED" };
  }
  if (aliasOf !== "DELETE /orgs/:org_id") return {};
  const id = await made("/v1/orgs", { name: "Unused" });
  return { "orgs/:org_id": id, "workspaces/:org_id": id };
}

/** Whatever ends is looked at from its head alone. */
async function open(path: string): Promise<Answer> {
  const closing = new AbortController();
  const response = await fetch(api.url + path, { headers: { authorization: `Bearer ${keys.ada}` }, signal: closing.signal });
  closing.abort();
  return { status: response.status, headers: response.headers, text: "", body: undefined };
}

/** The right query, with these values of a parameter in place of its own. */
function queryWith(operation: TestedOperation, name: string, values: readonly string[]): string {
  const query = new URLSearchParams(validOf(operation, world).query);
  query.delete(name);
  for (const value of values) query.append(name, value);
  return query.toString();
}

const fieldsOf = (schema: z.ZodObject | undefined): readonly (readonly [string, JsonSchema])[] =>
  Object.entries(schema === undefined ? {} : (jsonSchemaOf(schema).properties ?? {}));
const requiredOf = ({ body, query }: TestedOperation): readonly string[] =>
  [body, query].flatMap((schema) => (schema === undefined ? [] : (jsonSchemaOf(schema).required ?? [])));
const maxLengthOf = ({ maxLength, anyOf = [] }: JsonSchema): number | undefined =>
  typeof maxLength === "number" ? maxLength : anyOf.map(maxLengthOf).find((longest) => longest !== undefined);
const fieldsNamed = (answer: Answer): readonly string[] =>
  z
    .array(z.object({ field: z.string() }))
    .parse(errorSchema.parse(answer.body).details)
    .map(({ field }) => field.split(".")[0] ?? "");

const changesSomething = ({ method, changesNoResource }: TestedOperation): boolean => method !== "GET" && changesNoResource !== true;
const countEntries = async (): Promise<number> =>
  (
    await api.database.db
      .selectFrom("audit_log")
      .select(({ fn }) => fn.countAll<number>().as("n"))
      .executeTakeFirstOrThrow()
  ).n;

interface Counted {
  readonly status: number;
  /** How many entries of the audit log the request has added. */
  readonly entries: number;
}

async function sendCounted(operation: TestedOperation, ids: Ids): Promise<Counted> {
  const before = await countEntries();
  const { status } = await sendTo(operation, ids);
  return { status, entries: (await countEntries()) - before };
}

/** What deletions delete; other requests need theirs. */
let deletable: Promise<Ids> | undefined;

/** Makes everything again if an earlier deletion has ended what this one deletes. */
async function deleteWith(operation: TestedOperation): Promise<Counted> {
  const attempt = async (): Promise<Counted> => {
    const ids = { ...(await (deletable ??= makeWorld(api))), ...(await unusedFor(operation)) };
    if (operation.route === "DELETE /auto_subscriptions")
      await api.ask("POST", "/v1/auto_subscriptions", { body: { listener_id: ids["webhooks/:id"], event_name: "$logs" } });
    return sendCounted(operation, ids);
  };
  const first = await attempt();
  if (first.status !== 404) return first;
  deletable = undefined;
  return attempt();
}

const withoutStreams = tested.filter((operation) => !isStream(operation));
const named = (operations: readonly TestedOperation[]) => operations.map((operation) => [operation.route, operation] as const);

describe("a valid request gets a response that fits the document", () => {
  test.each(named(tested))("%s", async (_, operation) => {
    if (isStream(operation)) {
      const answer = await open(`${pathWith(operation.path, world)}`);
      expect(answer.status).toBe(200);
      expectToFit(operation, answer);
      return;
    }
    const { status, entries } = operation.method === "DELETE" ? await deleteWith(operation) : await sendCounted(operation, world);
    expect(Object.keys(operation.responses)).toContain(String(status));
    expect(entries, "entries of the audit log").toBe(changesSomething(operation) ? 1 : 0);
  });

  test.each(named(tested.filter(changesSomething)))("%s declares what it changes, for the audit log", (_, { change }) => {
    expect(change).toMatchObject({ action: expect.stringMatching(/^[a-z_]+$/), kind: expect.stringMatching(/^[A-Za-z]+$/) });
  });
});

describe("returns 401 without a valid key", () => {
  const expectRefused = async (operation: TestedOperation, key: string | null): Promise<void> => {
    const { status, body } = await send(operation, `/v1${operation.path.replaceAll(/:\w+/g, "none")}`, { key });
    expect([status, body.code]).toEqual([401, "unauthenticated"]);
  };
  test.each(named(tested))("%s", (_, operation) => expectRefused(operation, null));
  // A key is read in one place.
  test.each(named(tested.slice(0, 3)))("%s with an unknown or an empty key", async (_, operation) => {
    for (const key of ["wrong", ""]) await expectRefused(operation, key);
  });
});

describe("returns 404 for unknown ids of the right form", () => {
  // PUT of a variable creates it.
  const withIds = tested.filter(({ route, path }) => path.includes(":") && route !== "PUT /variables/:name");
  test.each(named(withIds))("%s", async (_, operation) => {
    const { path } = operation;
    const parameters = Object.values(jsonSchemaOf(pathParameters(path)).properties ?? {});
    const ids = placesOf(path).map((place, index) => [
      place,
      (parameters[index]?.pattern ?? "^no_").replace(/^\^(\w+_).*$/, "$1nothinghere"),
    ]);
    const { body } = validOf(operation, world);
    const { status } = await send(
      operation,
      pathWith(path, Object.fromEntries(ids)) ?? "",
      operation.body === undefined ? {} : { body: body ?? {} },
    );
    expect(status).toBe(404);
  });
});

describe("names each missing required field", () => {
  const demanding = withoutStreams.filter((operation) => requiredOf(operation).length > 0);
  test.each(named(demanding))("%s", async (_, operation) => {
    for (const missing of requiredOf(operation)) {
      const { body = {} } = validOf(operation, world);
      const answer = await sendTo(operation, world, {
        query: queryWith(operation, missing, []),
        ...(operation.body === undefined ? {} : { body: Object.fromEntries(Object.entries(body).filter(([name]) => name !== missing)) }),
      });
      expect([missing, answer.status, fieldsNamed(answer)]).toEqual([missing, 422, [missing]]);
    }
  });
});

describe("names a field of the wrong type", () => {
  test.each(named(withoutStreams.filter(({ body }) => body !== undefined)))("%s", async (_, operation) => {
    const { body = {} } = validOf(operation, world);
    for (const [name, schema] of Object.entries(operation.body?.shape ?? {})) {
      const wrong = [true, 7.5, "text", [], {}].filter((value) => !z.safeParse(schema, value).success);
      for (const value of wrong) {
        const answer = await sendTo(operation, world, { body: { ...body, [name]: value } });
        expect([name, value, answer.status, new Set(fieldsNamed(answer))]).toEqual([name, value, 422, new Set([name])]);
      }
    }
  });
});

describe("refuses values that are too large", () => {
  test.each(named(withoutStreams.filter(({ body }) => body !== undefined)))("%s: a body", async (_, operation) => {
    const answer = await sendTo(operation, world, { body: { any: "x".repeat(200 * 1024) } });
    expect([answer.status, answer.body.code]).toEqual([413, "body_too_large"]);
  });

  test.each(named(withoutStreams))("%s: a string", async (_, operation) => {
    const { body = {} } = validOf(operation, world);
    for (const [name, schema] of fieldsOf(operation.body)) {
      const longest = maxLengthOf(schema);
      if (longest === undefined) continue;
      const answer = await sendTo(operation, world, { body: { ...body, [name]: "x".repeat(longest + 1) } });
      expect([name, answer.status, new Set(fieldsNamed(answer))]).toEqual([name, 422, new Set([name])]);
    }
    for (const [name, schema] of fieldsOf(operation.query)) {
      const longest = maxLengthOf(schema);
      if (longest === undefined) continue;
      const answer = await sendTo(operation, world, { query: queryWith(operation, name, ["x".repeat(longest + 1)]) });
      expect([name, answer.status, new Set(fieldsNamed(answer))]).toEqual([name, 422, new Set([name])]);
    }
  });
});

describe("names a parameter that is given twice", () => {
  test.each(named(tested))("%s", async (_, operation) => {
    const isSelecting = !isStream(operation);
    const names = [...fieldsOf(operation.query).map(([name]) => name), ...(isSelecting ? ["include", "exclude"] : [])];
    for (const name of names) {
      const answer = await sendTo(operation, world, { query: queryWith(operation, name, ["x", "y"]) });
      expect([name, answer.status, fieldsNamed(answer)]).toEqual([name, 422, [name]]);
    }
  });
});
