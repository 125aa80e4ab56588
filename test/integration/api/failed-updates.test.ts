import { expect, test } from "vitest";
import { changeResource } from "../../../api/resources/change.ts";
import { componentKind } from "../../../crds/component.ts";
import { labels, type Condition } from "../../../crds/resource.ts";
import { runningStatus, sourceKind, type SourceSpec, type SourceStatus } from "../../../crds/source.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { ada, withApi } from "./support.ts";
import { until } from "../../support/until.ts";

/** A source whose last update failed, as the operator leaves it: the version before runs. */
const api = withApi();
const namespace = namespaceOfOwner(ada.id);

const create = async (body: object) => (await api.ask("POST", "/v1/sources", { body })).body.data;
const nameOf = (id: string): string => id.replace("_", "-");

async function fail(id: string, wanted: { readonly component?: string; readonly props: object; readonly active?: boolean }): Promise<void> {
  const source = await api.store.get(sourceKind, namespace, nameOf(id));
  const { component = source.spec.componentRef?.name ?? "", props, active = true } = wanted;
  const { componentRef } = source.spec;
  const changed = await changeResource(sourceKind, api.store, source, ({ spec }) => ({
    ...spec,
    name: "Wanted",
    componentRef: { name: component },
    props: props as SourceSpec["props"], // Props are any JSON.
    active,
  }));
  const generation = changed.metadata.generation;
  const isObserved = async () => (await api.store.get(sourceKind, namespace, nameOf(id))).status.observedGeneration === generation;
  await until(isObserved);
  const now = await api.store.get(sourceKind, namespace, nameOf(id));
  const condition = (type: Condition["type"], status: Condition["status"]): Condition => ({
    type,
    status,
    reason: "UpdateFailed",
    message: "the update failed: hook activate failed: Error: no",
    lastTransitionTime: "2026-11-23T12:03:00Z",
    observedGeneration: generation,
  });
  const status: SourceStatus = {
    ...now.status,
    deployment: "d_before",
    runningGeneration: generation - 1,
    component: componentRef?.name ?? "",
    running: runningStatus(source.spec),
    conditions: [condition("Ready", "False"), condition("Reconciling", "False"), condition("Stalled", "True")],
  };
  await api.store.updateStatus(sourceKind, { ...now, status });
}

test("is shown and listed with its running version", async () => {
  const source = await create({ component_code: "name: One; props: city", configured_props: { city: "Ulm" }, name: "Before" });
  const other = await create({ component_code: "name: Two; props: city", configured_props: { city: "x" } });
  await fail(source.id, { component: nameOf(other.component_id), props: { city: "Bonn" }, active: false });
  const shown = { name: "Before", component_id: source.component_id, configured_props: { city: "Ulm" }, active: true };
  expect((await api.ask("GET", `/v1/sources/${source.id}`)).body.data).toMatchObject(shown);
  const { data } = (await api.ask("GET", "/v1/users/me/sources?limit=100")).body;
  expect(data.find(({ id }: { id: string }) => id === source.id)).toMatchObject(shown);
});

test("is changed from its running version by a request without code, and retried by an equal request", async () => {
  const source = await create({ component_code: "name: One; props: city", configured_props: { city: "Ulm" }, name: "Before" });
  await fail(source.id, { props: { city: "Bonn" } });
  const { status, body } = await api.ask("PUT", `/v1/sources/${source.id}`, { body: { active: false } });
  expect([status, body.data]).toMatchObject([200, { name: "Before", configured_props: { city: "Ulm" }, active: false }]);
  expect((await api.store.get(sourceKind, namespace, nameOf(source.id))).spec).toMatchObject({ props: { city: "Ulm" }, active: false });

  await fail(source.id, { props: { city: "Köln" } });
  const before = (await api.store.get(sourceKind, namespace, nameOf(source.id))).metadata.generation;
  await api.ask("PUT", `/v1/sources/${source.id}`, { body: { name: "Wanted", configured_props: { city: "Köln" }, active: true } });
  expect((await api.store.get(sourceKind, namespace, nameOf(source.id))).metadata.generation).toBe(before + 1);
});

test("runs its running version on a manual run", async () => {
  const source = await create({ component_code: "name: One; props: city", configured_props: { city: "Ulm" } });
  await fail(source.id, { props: { city: "Bonn" }, active: false });
  expect((await api.ask("POST", `/v1/sources/${source.id}/runs`, { body: { event: {} } })).status).toBe(202);
  expect(api.ran.at(-1)).toMatchObject({ source: source.id, generation: 1 });
});

test("keeps its component, its account and its secrets from being deleted", async () => {
  const account = (await api.ask("POST", "/v1/accounts", { body: { app: "shop", name: "a", credentials: {} } })).body.data;
  const source = await create({ component_code: "name: One; props: city", configured_props: { city: account.id } });
  const other = await create({ component_code: "name: Two; props: city", configured_props: { city: "x" } });
  const resource = await api.store.get(sourceKind, namespace, nameOf(source.id));
  await changeResource(sourceKind, api.store, resource, ({ spec }) => ({ ...spec, props: { shop: { authProvisionId: account.id } } }));
  await fail(source.id, { component: nameOf(other.component_id), props: {} });
  const refused = await api.ask("DELETE", `/v1/accounts/${account.id}`);
  expect([refused.status, refused.body.code]).toEqual([409, "account_in_use"]);
  const component = await api.ask("DELETE", `/v1/components/${source.component_id}`);
  expect([component.status, component.body.code]).toEqual([409, "component_in_use"]);
  expect((await api.store.list(componentKind, { namespace, labels: { [labels.id]: source.component_id } })).items).toHaveLength(1);
});
