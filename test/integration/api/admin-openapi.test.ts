import { beforeAll, describe, expect, test } from "vitest";
import { adminOperation } from "../../../api/admin/context.ts";
import { adminOperations } from "../../../api/admin/router.ts";
import { planSchema } from "../../../api/admin/schemas.ts";
import { noAliases } from "../../../api/http/routing/aliases.ts";
import { noContent, ok } from "../../../api/http/response/replies.ts";
import { one } from "../../../api/http/response/schemas.ts";
import { describedOperations } from "../../../api/openapi/document.ts";
import { expectToFit, placesOf, type TestedOperation } from "./document-support.ts";
import { acme, ada, bob, keys, withApi, type Answer } from "./support.ts";

const adminToken = "an-admin-token-of-many-characters-0123456789";
const api = withApi({ adminToken, sharedAppsOwner: acme.id, failureLimit: { requests: 10_000, windowMs: 60_000 } });

const tested: readonly TestedOperation[] = describedOperations(adminOperations, noAliases);
const named = (operations: readonly TestedOperation[]) => operations.map((operation) => [operation.route, operation] as const);

let made = 0;
const fresh = () => ({ username: `user${++made}`, orgname: `org${made}`, email: `e${made}@example.com`, name: `n${made}` });

/** Requests that are right. */
const bodies: Readonly<Record<string, () => object>> = {
  "POST /users": () => ({ username: fresh().username, email: fresh().email }),
  "POST /users/:id/keys": () => ({ name: "another" }),
  "PUT /users/:id/plan": () => ({ plan: "default" }),
  "POST /orgs": () => ({ ...fresh(), admins: [ada.id] }),
  "PUT /orgs/:id/members/:user_id": () => ({ role: "member" }),
  "PUT /orgs/:id/plan": () => ({ plan: "default" }),
  "POST /owners/:id/namespaces": () => ({ name: "team-b" }),
  "PUT /plans/:name": () => ({ form: "paid" }),
  "PUT /variables/:name": () => ({ value: "eu" }),
  "PUT /components/registry/:published_version": () => ({ deprecated: "old" }),
};

type Ids = Readonly<Record<string, string>>;
let world: Ids = {};

async function ask(method: string, path: string, body?: object, key: string | null = adminToken): Promise<Answer> {
  return api.ask(method, `/admin/v1${path}`, { key, ...(body === undefined ? {} : { body }) });
}

/** Resources to delete, beside other people's. */
async function makeWorld(): Promise<Ids> {
  const { username, orgname, email, name } = fresh();
  const user = (await ask("POST", "/users", { username, email })).body.data.id;
  const key = (await ask("POST", `/users/${user}/keys`, { name })).body.data.id;
  const organization = (await ask("POST", "/orgs", { name, orgname, email })).body.data.id;
  await ask("PUT", `/plans/${name}`, { form: "free" });
  await ask("POST", `/owners/${user}/namespaces`, { name: "team-a" });
  await ask("PUT", "/variables/REGION", { value: "eu" });
  const version = `${++made}.0.0`;
  const saved = async (code: string): Promise<string> =>
    (await api.ask("POST", "/v1/components", { body: { component_code: `name: Feed; key: acme-feed; version: ${code}` } })).body.data.id;
  await ask("POST", `/components/${await saved(version)}/publish`);
  await ask("PUT", `/components/registry/acme-feed@${version}`, { deprecated: "old" });
  const published = { "components/:id": await saved(`${++made}.0.0`), "registry/:published_version": `acme-feed@${version}` };
  const claimed = { "owners/:id": user, "namespaces/:name": "team-a" };
  return {
    ...published,
    ...claimed,
    "users/:id": user,
    "keys/:key_id": key,
    "orgs/:id": organization,
    "members/:user_id": user,
    "plans/:name": name,
    "variables/:name": "REGION",
  };
}

const pathWith = ({ path }: TestedOperation, ids: Ids): string =>
  placesOf(path).reduce((filled, place) => filled.replace(place, place.replace(/:.*$/, ids[place] ?? "missing")), path);

async function send(operation: TestedOperation, ids: Ids, body = bodies[operation.route]?.()): Promise<Answer> {
  const answer = await ask(operation.method, pathWith(operation, ids), body);
  expectToFit(operation, answer);
  return answer;
}

beforeAll(async () => {
  world = await makeWorld();
});

describe("the document of the admin API", () => {
  test("is served only with the admin token", async () => {
    for (const key of [null, keys.ada, "wrong"]) expect((await ask("GET", "/openapi.json", undefined, key)).status).toBe(401);
    const { status, body, headers } = await ask("GET", "/openapi.json");
    expect([status, headers.get("content-type"), body.openapi]).toEqual([200, "application/json; charset=utf-8", "3.1.1"]);
    expect(body.servers).toEqual([{ url: "/admin/v1" }]);
    expect((await ask("POST", "/openapi.json")).status).toBe(405);
    expect((await api.ask("GET", "/v1/openapi.json", { key: null })).text).not.toContain("listUsers");
  });

  test("describes every operation and field, and has no dangling references", async () => {
    const { text, body } = await ask("GET", "/openapi.json");
    const documented = Object.entries<Record<string, { operationId?: string; parameters: object[] }>>(body.paths).flatMap(
      ([path, methods]) =>
        Object.entries(methods).map(([method, { operationId }]) => [
          `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`,
          operationId,
        ]),
    );
    expect(documented.toSorted()).toEqual(tested.map(({ route, id }) => [route, id]).toSorted());
    for (const [, kind = "", name = ""] of text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g))
      expect(body.components[kind], `${kind} ${name}`).toHaveProperty(name);
    for (const methods of Object.values<Record<string, Described>>(body.paths))
      for (const { operationId, parameters, requestBody } of Object.values(methods)) {
        const fields = Object.entries(requestBody?.content["application/json"].schema.properties ?? {});
        for (const [name, { description }] of [...parameters.map((each) => [each.name ?? each.$ref, each] as const), ...fields])
          if (!String(name).startsWith("#")) expect([operationId, name, description]).toEqual([operationId, name, expect.any(String)]);
      }
  });
});

interface Described {
  readonly operationId: string;
  readonly parameters: readonly { readonly name?: string; readonly $ref?: string; readonly description?: string }[];
  readonly requestBody?: {
    readonly content: {
      readonly "application/json": { readonly schema: { readonly properties: Record<string, { description?: string }> } };
    };
  };
}

describe("a valid request gets a response that fits the document", () => {
  test.each(named(tested))("%s", async (_, operation) => {
    const ids = operation.method === "DELETE" ? await makeWorld() : world;
    if (operation.route === "DELETE /orgs/:id/members/:user_id")
      await ask("PUT", `/orgs/${ids["orgs/:id"]}/members/${ids["members/:user_id"]}`, { role: "admin" });
    const { status } = await send(operation, ids);
    expect(Object.keys(operation.responses)).toContain(String(status));
  });
});

describe("returns 401 without the token or with an API key", () => {
  test.each(named(tested))("%s", async (_, operation) => {
    for (const key of [null, keys.ada]) {
      const answer = await ask(
        operation.method,
        pathWith(operation, { ...world, "orgs/:id": acme.id }),
        operation.method === "GET" ? undefined : {},
        key,
      );
      expectToFit(operation, answer);
      expect(answer.status).toBe(401);
    }
  });
});

describe("returns 404 for unknown ids", () => {
  const none = {
    "users/:id": "u_none",
    "keys/:key_id": "pk_none",
    "orgs/:id": "o_none",
    "members/:user_id": bob.id,
    "plans/:name": "none",
    "variables/:name": "NONE",
    "components/:id": "sc_none",
    "registry/:published_version": "acme-feed@0.0.0",
  };
  // A plan or a variable that is not there is made.
  const making = ["PUT /plans/:name", "PUT /variables/:name"];
  const demanding = tested.filter(({ path, route }) => path.includes(":") && !making.includes(route));
  test.each(named(demanding))("%s", async (_, operation) => {
    expect((await send(operation, none)).status).toBe(404);
  });
});

describe("names the missing fields of an empty body", () => {
  test.each(named(tested.filter(({ body }) => body !== undefined)))("%s", async (_, operation) => {
    const { status, body } = await send(operation, world, {});
    expect([status, body.code]).toEqual([422, "invalid_input"]);
    expect(body.details.length).toBeGreaterThan(0);
  });
});

test("does not compile an operation whose response differs from its schema", () => {
  const get = { route: "GET /plan", id: "getPlan", summary: "A plan", responses: one(planSchema) } as const;
  const remove = { route: "DELETE /plan", id: "deletePlan", summary: "No plan", responses: { 204: null } } as const;
  const plan = {
    name: "p",
    form: "free",
    daily_invocations_quota: 1,
    daily_compute_time_quota: null,
    weight: 1,
    max_organizations: 20,
  } as const;
  const { form: _, ...formless } = plan;
  const declared = [
    adminOperation({ ...get, handle: async () => ok(plan) }),
    adminOperation({ ...remove, handle: async () => noContent }),
    // @ts-expect-error -- a field is missing
    adminOperation({ ...get, handle: async () => ok(formless) }),
    // @ts-expect-error -- a field has another type
    adminOperation({ ...get, handle: async () => ok({ ...plan, name: 1 }) }),
    // @ts-expect-error -- the response has no data
    adminOperation({ ...remove, handle: async () => ok(plan) }),
  ];
  expect(declared).toHaveLength(5);
});
