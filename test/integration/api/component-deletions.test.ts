import { describe, expect, test } from "vitest";
import { deleteComponent } from "../../../api/components/delete.ts";
import { limitStorage } from "../../../api/resources/storage-quota.ts";
import { componentKind } from "../../../crds/component.ts";
import { finalizer, labels } from "../../../crds/resource.ts";
import { defaultSettings, sourceKind } from "../../../crds/source.ts";
import { emptyWorkflow, workflowKind } from "../../../crds/workflow.ts";
import { namespaceOfOwner, resourceNameOf } from "../../../domain/ids.ts";
import { acme, ada, keys, withApi } from "./support.ts";
import { until } from "../../support/until.ts";

const adminToken = "an-admin-token-of-many-characters-0123456789";
/** Called between finding a component and creating the source that runs it: that is when secret values are kept. */
let beforeCreation: () => Promise<void> = async () => undefined;
const api = withApi(
  { adminToken },
  {
    secretValues: {
      keep: async (_holder, texts) => {
        await beforeCreation();
        return Object.fromEntries(Object.keys(texts).map((name) => [name, { sealed: "s" }]));
      },
    },
  },
);
const namespace = namespaceOfOwner(ada.id);

const save = async (code: string, query = "", key: string = keys.ada): Promise<string> =>
  (await api.ask("POST", `/v1/components${query}`, { body: { component_code: code }, key })).body.data.id;
const remove = (id: string, key: string = keys.ada) => api.ask("DELETE", `/v1/components/${id}`, { key });
const deploy = (id: string) => api.ask("POST", "/v1/sources", { body: { component_id: id } });

describe("an unused component", () => {
  test("is deleted and no longer found or listed", async () => {
    const id = await save("name: Unused; key: unused");
    expect((await remove(id)).status).toBe(204);
    for (const path of [`/v1/components/${id}`, "/v1/components/unused"]) expect((await api.ask("GET", path)).status).toBe(404);
    expect((await api.ask("GET", "/v1/components")).text).not.toContain(id);
    expect((await remove(id)).status).toBe(404);
  });

  test("gets the same id when its code is saved again", async () => {
    const id = await save("name: Again");
    await remove(id);
    expect(await save("name: Again")).toBe(id);
  });

  test("is not deleted by its key, which several components can share", async () => {
    await save("name: Keyed; key: keyed");
    expect((await remove("keyed")).status).toBe(404);
    expect((await api.ask("GET", "/v1/components/keyed")).status).toBe(200);
  });

  test("of an organization can be deleted by members only", async () => {
    const id = await save("name: Ours", `?org_id=${acme.id}`);
    expect((await remove(id, keys.bob)).status).toBe(404);
    expect((await remove(id)).status).toBe(204);
  });
});

describe("a component that is in use", () => {
  test("is not deleted while sources run it, and the 409 names them", async () => {
    const id = await save("name: Used");
    const [one, other] = [(await deploy(id)).body.data.id, (await deploy(id)).body.data.id];
    const { status, body } = await remove(id);
    expect([status, body.code]).toEqual([409, "component_in_use"]);
    expect([body.details.sources.toSorted(), body.details.workflows]).toEqual([[one, other].toSorted(), []]);
    for (const source of [one, other]) expect(body.error).toContain(source);
    await api.ask("DELETE", `/v1/sources/${one}`);
    expect((await remove(id)).body.details.sources).toEqual([other]);
    await api.ask("DELETE", `/v1/sources/${other}`);
    expect((await remove(id)).status).toBe(204);
  });

  test("is not deleted while the source that contains its code exists", async () => {
    const spec = { code: "name: By hand", ...defaultSettings };
    const own = { name: "by-hand", namespace, spec, labels: { [labels.id]: "dc_byhand" }, finalizers: [finalizer] };
    await api.store.create(sourceKind, own);
    await until(async () => (await api.ask("GET", "/v1/sources/dc_byhand")).body.data.component_id !== null);
    const { component_id } = (await api.ask("GET", "/v1/sources/dc_byhand")).body.data;
    expect((await remove(component_id)).body.details.sources).toEqual(["dc_byhand"]);
  });

  test("is not deleted while workflows run it, and the 409 names them", async () => {
    const id = await save("name: Step; type: action");
    const step = { name: "one", componentRef: { name: resourceNameOf(id) }, props: {}, secrets: {}, continueOnError: false, retries: 0 };
    const spec = { ...emptyWorkflow, steps: [step] };
    await api.store.create(workflowKind, { name: "p-steps", namespace, labels: { [labels.id]: "p_steps" }, spec });
    expect((await remove(id)).body.details).toEqual({ sources: [], workflows: ["p_steps"] });
  });

  test("is restored for a source that was created in between, also if its owner may store nothing more", async () => {
    const id = await save("name: Contended");
    const component = await api.store.get(componentKind, namespace, resourceNameOf(id));
    const nothing = { resources: 0, bytes: 0 };
    const use = { sharersOf: async (): Promise<[string]> => [ada.id], read: async () => nothing };
    const limited = limitStorage(api.store, use, { ownerOf: async () => ada.id, find: async () => namespace }, nothing);
    const spec = { componentRef: { name: component.metadata.name }, ...defaultSettings };
    const source = { name: "contending", namespace, spec, labels: { [labels.id]: "dc_contending" } };
    const store: typeof limited = {
      ...limited,
      delete: async (kind, ...key) => {
        await api.store.create(sourceKind, source);
        await limited.delete(kind, ...key);
      },
    };
    await expect(limited.create(sourceKind, source)).rejects.toMatchObject({ code: "storage_full" });
    await expect(deleteComponent(component, { store }, (kind, given) => api.store.create(kind, given))).rejects.toMatchObject({
      code: "component_in_use",
    });
    expect((await api.store.get(componentKind, namespace, component.metadata.name)).spec).toEqual(component.spec);
    await api.store.delete(sourceKind, namespace, source.name);
  });

  test("deleted just before a source is created makes that creation fail with 404", async () => {
    const id = await save("name: Just before; props: token");
    beforeCreation = async () => {
      beforeCreation = async () => undefined;
      expect((await remove(id)).status).toBe(204);
    };
    const body = { component_id: id, name: "just-before", configured_props: { token: "t" } };
    const { status, body: answer } = await api.ask("POST", "/v1/sources", { body });
    expect([status, answer.error]).toEqual([404, `component ${id} was deleted in the meantime`]);
    await until(async () => !(await api.ask("GET", "/v1/sources?limit=100")).text.includes("just-before"));
  });

  test("survives if a source is created concurrently, or the source is refused", async () => {
    for (let round = 0; round < 20; round++) {
      const id = await save(`name: Raced ${round}`);
      const [deployed, removed] = await Promise.all([deploy(id), remove(id)]);
      const { items } = await api.store.list(sourceKind, { namespace });
      const running = items.filter(
        ({ metadata, spec }) => spec.componentRef?.name === resourceNameOf(id) && metadata.deletionTimestamp === undefined,
      );
      const component = await api.store.find(componentKind, namespace, resourceNameOf(id));
      // Both may be refused, but they never both succeed.
      expect([200, 404]).toContain(deployed.status);
      expect(running).toHaveLength(deployed.status === 200 ? 1 : 0);
      expect([removed.status, component === undefined]).toEqual(removed.status === 204 ? [204, true] : [409, false]);
      expect([deployed.status, removed.status]).not.toEqual([200, 204]);
    }
  });
});

test("a user can be deleted after their components", async () => {
  const admin = (method: string, path: string, body?: object) =>
    api.ask(method, `/admin/v1${path}`, { key: adminToken, ...(body === undefined ? {} : { body }) });
  const { id } = (await admin("POST", "/users", { username: "leaver", email: "leaver@example.com" })).body.data;
  const { key } = (await admin("POST", `/users/${id}/keys`, { name: "k" })).body.data;
  const component = await save("name: Left behind", "", key);
  expect((await admin("DELETE", `/users/${id}`)).body.details).toEqual({ kinds: ["Component"] });
  expect((await remove(component, key)).status).toBe(204);
  expect((await admin("DELETE", `/users/${id}`)).status).toBe(204);
});

test("a webhook of an organization shows owner_id in every response", async () => {
  const create = async (query: string) => (await api.ask("POST", `/v1/webhooks?url=https://owned.test${query}`)).body.data;
  const [mine, ours] = [await create(""), await create(`&org_id=${acme.id}`)];
  expect([mine.owner_id, ours.owner_id]).toEqual([undefined, acme.id]);
  const answers = [
    (await api.ask("GET", `/v1/webhooks/${ours.id}`)).body.data,
    (await api.ask("PUT", `/v1/webhooks/${ours.id}`, { body: { name: "x" } })).body.data,
    (await api.ask("POST", `/v1/webhooks/${ours.id}/rotate_key`)).body.data,
    (await api.ask("GET", `/v1/orgs/${acme.id}/webhooks`)).body.data[0],
  ];
  expect(answers.map(({ owner_id }) => owner_id)).toEqual(answers.map(() => acme.id));
  expect((await api.ask("GET", "/v1/users/me/webhooks")).body.data[0].owner_id).toBeUndefined();
});
