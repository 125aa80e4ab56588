import { expect, test } from "vitest";
import { componentKind } from "../../../crds/component.ts";
import { sourceKind } from "../../../crds/source.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { until } from "../../support/until.ts";
import { releaseWebhook } from "./fake-operator.ts";
import { ada, bob, keys, withApi, type Answer } from "./support.ts";

const adminToken = "an-admin-token-of-many-characters-0123456789";
const api = withApi({ adminToken });

const admin = (method: string, path: string, body?: object): Promise<Answer> =>
  api.ask(method, `/admin/v1${path}`, { key: adminToken, ...(body === undefined ? {} : { body }) });
const made = async (path: string, body: object) => {
  const { status, body: answer } = await admin("POST", path, body);
  expect([status, answer.error]).toEqual([200, undefined]);
  return answer.data;
};

test("refuses to delete an organization that owns resources or has members, and names them", async () => {
  const body = { name: "Short", orgname: "short", email: "short@example.com", admins: [ada.id, bob.id] };
  const { id } = await made("/orgs", body);
  await made("/orgs", { ...body, orgname: "beside" });
  await admin("PUT", "/plans/brief", { form: "free" });
  await admin("PUT", `/orgs/${id}/plan`, { plan: "brief" });
  const source = (await api.ask("POST", "/v1/sources", { body: { component_code: "name: Its", org_id: id } })).body.data;
  const owning = await admin("DELETE", `/orgs/${id}`);
  expect([owning.status, owning.body.code, owning.body.details.kinds]).toEqual([
    409,
    "organization_owns_resources",
    expect.arrayContaining(["Source"]),
  ]);
  await api.ask("DELETE", `/v1/sources/${source.id}`);
  for (const { namespace, name } of (await api.store.list(componentKind, { namespace: namespaceOfOwner(id), limit: 10 })).items.map(
    ({ metadata }) => metadata,
  ))
    await api.store.delete(componentKind, namespace, name);
  const peopled = await admin("DELETE", `/orgs/${id}`);
  expect([peopled.status, peopled.body.code, peopled.body.details]).toEqual([409, "organization_has_members", { members: 2 }]);
  for (const user of [ada, bob]) await admin("DELETE", `/orgs/${id}/members/${user.id}`);
  expect((await admin("DELETE", "/plans/brief")).body.code).toBe("plan_in_use");
  expect((await admin("DELETE", `/orgs/${id}`)).status).toBe(204);
  expect((await admin("GET", `/orgs/${id}`)).status).toBe(404);
  expect((await admin("DELETE", `/orgs/${id}`)).status).toBe(404);
  expect((await admin("DELETE", "/plans/brief")).status).toBe(204);
  expect((await admin("GET", "/orgs")).body.data.map(({ orgname }: { orgname: string }) => orgname)).toEqual(
    expect.arrayContaining(["beside", "acme", "others"]),
  );
});

test("deletes a plan that no owner has, but never the default plan", async () => {
  await admin("PUT", "/plans/short", { form: "free" });
  await admin("PUT", `/users/${bob.id}/plan`, { plan: "short" });
  for (const [plan, status, code] of [
    ["short", 409, "plan_in_use"],
    ["default", 409, "plan_in_use"],
    ["none", 404, "not_found"],
    ["%00", 404, "not_found"],
  ] as const) {
    const answer = await admin("DELETE", `/plans/${plan}`);
    expect([plan, answer.status, answer.body.code]).toEqual([plan, status, code]);
  }
  await admin("PUT", `/users/${bob.id}/plan`, { plan: "default" });
  expect((await admin("DELETE", "/plans/short")).status).toBe(204);
  expect((await admin("GET", "/plans")).body.data.map(({ name }: { name: string }) => name)).not.toContain("short");
});

test("ends a user with all resources, keys, and the organization of which the user is the only member, and says what is left", async () => {
  const user = await made("/users", { username: "gone", email: "gone@example.com" });
  const { key } = await made(`/users/${user.id}/keys`, { name: "first" });
  const own = await made("/orgs", { name: "Own", orgname: "own-of-gone", email: "own@example.com", admins: [user.id] });
  const shared = await made("/orgs", { name: "Shared", orgname: "shared-of-gone", email: "shared@example.com", admins: [user.id, bob.id] });
  const create = async (path: string, body: object) => {
    const answer = await api.ask("POST", `/v1${path}`, { key, body });
    expect([path, answer.status, answer.body.error]).toEqual([path, 200, undefined]);
    return answer.body.data;
  };
  const source = await create("/sources", { component_code: "name: Its" });
  const webhook = await create("/webhooks", { url: "https://x.test/" });
  await create(`/subscriptions?emitter_id=${source.id}&listener_id=${webhook.id}`, {});
  const ofOwn = await create("/sources", { component_code: "name: Own", org_id: own.id });
  const ofShared = await create("/sources", { component_code: "name: Shared", org_id: shared.id });

  const refused = await admin("DELETE", `/users/${user.id}`);
  expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining(`DELETE /admin/v1/users/${user.id}/resources`)]);
  const left = async () => (await admin("DELETE", `/users/${user.id}/resources`)).body.data;
  expect((await left()).id).toBe(user.id);
  expect((await api.ask("GET", "/v1/users/me", { key })).status).toBe(401);
  await until(
    async () => (await left()).remaining.every(({ kind }: { kind: string }) => ["Webhook", "Component"].includes(kind)),
    "sources",
  );
  expect(await left()).toMatchObject({
    ended: false,
    remaining: expect.arrayContaining([{ owner_id: user.id, kind: "Webhook", count: 1 }]) as unknown,
  });
  await releaseWebhook(api.store, webhook.id);
  await until(async () => (await left()).ended, "nothing is left");
  expect(await left()).toEqual({ id: user.id, ended: true, remaining: [] });
  expect((await admin("GET", `/orgs/${own.id}`)).status).toBe(404);
  expect((await api.store.findById(sourceKind, ofShared.id))?.metadata.deletionTimestamp).toBeUndefined();
  expect((await admin("DELETE", `/users/${user.id}`)).status).toBe(204);
  const entries = (await auditOf([user.id, own.id])).map(({ kind, resource_id }) => `${kind} ${resource_id}`);
  expect(entries).toEqual(
    expect.arrayContaining([`Source ${source.id}`, `Webhook ${webhook.id}`, `Source ${ofOwn.id}`, `Organization ${own.id}`]),
  );
  expect(entries.filter((entry) => entry === `Source ${source.id}`)).toHaveLength(1);
  await api.ask("DELETE", `/v1/sources/${ofShared.id}`, { key: keys.bob });
});

test("ends the resources of an organization, whose members stay", async () => {
  const { id } = await made("/orgs", { name: "Emptied", orgname: "emptied", email: "emptied@example.com", admins: [ada.id, bob.id] });
  await api.ask("POST", "/v1/sources", { body: { component_code: "name: Theirs", org_id: id } });
  const left = async () => (await admin("DELETE", `/orgs/${id}/resources`)).body.data;
  await until(async () => (await left()).ended, "nothing is left");
  expect((await admin("GET", `/orgs/${id}/members`)).body.data).toHaveLength(2);
  for (const path of ["/orgs/o_none/resources", "/users/u_none/resources", `/users/${id}/resources`])
    expect((await admin("DELETE", path)).status).toBe(404);
});

/** Deletions by the admin, of these owners. */
async function auditOf(owners: readonly string[]): Promise<readonly { kind: string; resource_id: string }[]> {
  const rows = await api.database.db.selectFrom("audit_log").select(["kind", "resource_id", "owner", "action", "actor"]).execute();
  return rows.flatMap(({ kind, resource_id, owner, action, actor }) =>
    action === "delete" && actor === "admin" && owner !== null && owners.includes(owner) ? [{ kind, resource_id: resource_id ?? "" }] : [],
  );
}
