import { beforeAll, describe, expect, test } from "vitest";
import { expectToFit, makeWorld, pathWith, placesOf, tested, withWholeApi, type Ids, type TestedOperation } from "./document-support.ts";
import { acme, ada, others, type Answer } from "./support.ts";

/**
 * Every operation takes `org_id`. Method: each operation of the document is sent with organizations that are unknown, foreign, or not the
 * owner of the resource in its path. All resources belong to ada, who is a member of acme.
 */
const api = withWholeApi();
let world: Ids = {};
beforeAll(async () => {
  world = await makeWorld(api);
});

/** Places of ids that name no resource of an owner. */
const unowned = new Set(
  "registry/:key keys/:id orgs/:org_id workspaces/:org_id members/:user_id packages/:name invitations/:id invitations/:invitation_id".split(
    " ",
  ),
);
/** PUT of a variable creates it. */
const namesResource = ({ route, path }: TestedOperation): boolean =>
  route !== "PUT /variables/:name" && placesOf(path).some((place) => !unowned.has(place));
const named = (operations: readonly TestedOperation[]) => operations.map((operation) => [operation.route, operation] as const);

async function send(operation: TestedOperation, query: string): Promise<Answer> {
  const sent = operation.method === "GET" ? {} : { body: {} };
  const answer = await api.ask(operation.method, `${pathWith(operation.path, world)}?${query}`, sent);
  expectToFit(operation, answer);
  return answer;
}

/** The other name of the parameter is read in the same place: a sample shows it. */
const parameters: readonly (readonly [name: string, operations: readonly TestedOperation[]])[] = [
  ["org_id", tested],
  ["workspace_id", tested.filter((_, index) => index % 10 === 0)],
];

describe.each(parameters)("%s", (parameter, operations) => {
  test.each(named(operations))("of an unknown or foreign organization is refused by %s", async (_, operation) => {
    expect((await send(operation, `${parameter}=o_unknown`)).status).toBe(404);
    const { status, body } = await send(operation, `${parameter}=${others.id}`);
    expect([status, body.error]).toEqual([403, `you are not a member of organization ${others.id}`]);
  });

  test.each(named(operations.filter(namesResource)))(
    "of an organization that does not own the resource is refused by %s",
    async (_, operation) => {
      const { status, body } = await send(operation, `${parameter}=${acme.id}`);
      expect([status, body.code]).toEqual([404, "not_found"]);
    },
  );
});

describe("org_id", () => {
  test("of another organization leaves the resource unchanged, and the message names both", async () => {
    const id = world["sources/:id"];
    const { status, body } = await api.ask("DELETE", `/v1/sources/${id}?org_id=${acme.id}`);
    const message = `record not found: source ${id} does not belong to organization ${acme.id}: leave out org_id, or name its owner`;
    expect([status, body.error]).toEqual([404, message]);
    expect((await api.ask("PUT", `/v1/sources/${id}`, { body: { org_id: acme.id, name: "Taken" } })).status).toBe(404);
    expect((await api.ask("GET", `/v1/sources/${id}`)).body.data.name).not.toBe("Taken");
  });

  test("of the owner reaches the resource, also one that refers to resources of its members", async () => {
    const source = (await api.ask("POST", `/v1/sources?org_id=${acme.id}`, { body: { component_code: "name: Ours" } })).body.data;
    const path = `/v1/sources/${source.id}?org_id=${acme.id}`;
    expect((await api.ask("GET", path)).body.data.owner_id).toBe(acme.id);
    const saved = (await api.ask("POST", "/v1/components", { body: { component_code: "name: Mine" } })).body.data;
    expect((await api.ask("PUT", path, { body: { component_id: saved.id } })).status).toBe(200);
    const replayed = await api.ask("POST", `/v1/sources/${source.id}/replays?org_id=${acme.id}`, {
      body: { listener_id: world["webhooks/:id"] },
    });
    expect(replayed.status).toBe(202);
    expect((await api.ask("DELETE", path)).status).toBe(204);
  });

  test("of the caller, or empty, is no organization", async () => {
    for (const org of [ada.id, ""]) expect((await api.ask("GET", `/v1/webhooks/${world["webhooks/:id"]}?org_id=${org}`)).status).toBe(200);
  });

  test("that differs from workspace_id, or from the organization in the path, is refused", async () => {
    const made = (await api.ask("POST", "/v1/orgs", { body: { name: "Another" } })).body.data.id;
    for (const path of [`/v1/users/me?org_id=${acme.id}&workspace_id=${made}`, `/v1/orgs/${acme.id}/sources?org_id=${made}`])
      expect((await api.ask("GET", path)).status).toBe(422);
    expect((await api.ask("GET", `/v1/orgs/${acme.id}/sources?org_id=${acme.id}&workspace_id=${acme.id}`)).status).toBe(200);
  });

  test("does not move the entry of a key to the organization's audit log", async () => {
    await api.ask("POST", `/v1/users/me/keys?org_id=${acme.id}`, { body: { name: "of ada" } });
    const entries = async (path: string) => (await api.ask("GET", `${path}?kind=ApiKey&limit=100`)).body.data;
    expect(await entries(`/v1/orgs/${acme.id}/audit_log`)).toEqual([]);
    expect((await entries("/v1/audit_log")).length).toBeGreaterThan(0);
  });
});
