import { beforeAll, describe, expect, test } from "vitest";
import { labels } from "../../../crds/resource.ts";
import { subscriptionKind } from "../../../crds/subscription.ts";
import { emptyWorkflow, workflowKind } from "../../../crds/workflow.ts";
import { namespaceOfOwner, resourceNameOf } from "../../../domain/ids.ts";
import { acme, ada, keys, withApi } from "./support.ts";

/** Addresses that programs written for the known service use for lists. */
const api = withApi();
const made: Record<string, string> = {};

async function create(path: string, body: object): Promise<string> {
  const answer = await api.ask("POST", `/v1${path}`, { body });
  if (answer.status !== 200) throw new Error(`POST ${path} answers ${answer.status}: ${answer.text}`);
  return answer.body.data.id;
}

async function createWorkflow(id: string, owner: string, name?: string): Promise<void> {
  await api.store.create(workflowKind, {
    namespace: namespaceOfOwner(owner),
    name: resourceNameOf(id),
    labels: { [labels.id]: id, [labels.owner]: owner },
    spec: { ...emptyWorkflow, ...(name === undefined ? {} : { name }) },
  });
}

beforeAll(async () => {
  for (const query of ["", `?org_id=${acme.id}`]) {
    made[`source${query}`] = await create(`/sources${query}`, { component_code: "name: Listed" });
    made[`webhook${query}`] = await create(`/webhooks${query}`, { url: "https://listed.test/" });
    made[`account${query}`] = await create(`/accounts${query}`, { app: "shop", credentials: {} });
    const [emitter_id, listener_id] = [made[`source${query}`], made[`webhook${query}`]];
    made[`subscription${query}`] = await create(`/subscriptions${query}`, { emitter_id, listener_id });
  }
  await createWorkflow("p_mine", ada.id, "Mine");
  await createWorkflow("p_ours", acme.id);
});

const get = async (path: string) => (await api.ask("GET", `/v1${path}`)).body;

describe("a list without /users/me", () => {
  test.each(["sources", "subscriptions", "webhooks", "workflows", "accounts", "auto_subscriptions"])(
    "GET /%s returns the same as /users/me/…",
    async (kind) => {
      const list = await get(`/users/me/${kind}`);
      expect(list.data).toHaveLength(kind === "auto_subscriptions" ? 0 : 1);
      expect(await get(`/${kind}`)).toEqual(list);
      expect(await get(`/${kind}/?limit=5&include=id`)).toEqual(await get(`/users/me/${kind}?limit=5&include=id`));
    },
  );

  test.each(["sources", "subscriptions", "webhooks", "workflows", "accounts"])(
    "GET /%s with org_id returns the same as /orgs/{id}/… and /workspaces/{id}/…",
    async (kind) => {
      const list = await get(`/orgs/${acme.id}/${kind}`);
      expect(list.data).toHaveLength(1);
      for (const path of [`/workspaces/${acme.id}/${kind}`, `/${kind}?org_id=${acme.id}`, `/users/me/${kind}?workspace_id=${acme.id}`])
        expect([path, await get(path)]).toEqual([path, list]);
    },
  );

  test("lists every method of its path in Allow", async () => {
    const { status, headers } = await api.ask("PUT", "/v1/sources");
    expect([status, headers.get("allow")?.split(", ").toSorted()]).toEqual([405, ["GET", "HEAD", "OPTIONS", "POST"]]);
  });

  test("returns 403 for an organization of others", async () => {
    for (const path of [`/v1/sources?org_id=${acme.id}`, `/v1/workspaces/${acme.id}/accounts`])
      expect((await api.ask("GET", path, { key: keys.bob })).status).toBe(403);
  });
});

describe("a workflow", () => {
  test("has id, name and active, and owner_id if an organization owns it", async () => {
    const created_at = expect.toSatisfy(Number.isInteger);
    const mine = { id: "p_mine", name: "Mine", active: true, created_at };
    const ours = { id: "p_ours", owner_id: acme.id, name: "p-ours", active: true, created_at };
    expect((await get("/workflows")).data).toEqual([expect.objectContaining(mine)]);
    expect((await get("/workflows")).data[0]).not.toHaveProperty("owner_id");
    expect((await get("/workflows/p_mine")).data).toMatchObject(mine);
    expect((await get(`/orgs/${acme.id}/workflows`)).data).toEqual([expect.objectContaining(ours)]);
  });
});

test("DELETE /subscriptions/{id} deletes the subscription and returns it", async () => {
  const id = made["subscription"] ?? "";
  const { status, body } = await api.ask("DELETE", `/v1/subscriptions/${id}`);
  expect([status, body.data]).toEqual([200, { id, emitter_id: made["source"], listener_id: made["webhook"], event_name: "" }]);
  expect(await api.store.find(subscriptionKind, namespaceOfOwner(ada.id), resourceNameOf(id))).toBeUndefined();
  expect((await api.ask("DELETE", `/v1/subscriptions/${id}`)).status).toBe(404);
});

test("the OpenAPI document contains every alias with the parameters of its route", async () => {
  const { paths } = await get("/openapi.json");
  for (const [alias, path] of [
    ["/sources", "/users/me/sources"],
    ["/workspaces/{org_id}/accounts", "/orgs/{org_id}/accounts"],
    ["/workflows", "/users/me/workflows"],
  ] as const) {
    expect(paths[alias].get.parameters).toEqual(paths[path].get.parameters);
    expect(paths[alias].get.description).toBe(`Another path of \`GET ${path.replace("{org_id}", ":org_id")}\`.`);
  }
  expect(Object.keys(paths).filter((path) => path.includes("%"))).toEqual([]);
});
