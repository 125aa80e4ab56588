import { expect, test } from "vitest";
import { componentKind } from "../../../crds/component.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { ada, bob, withApi, type Answer } from "./support.ts";

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
