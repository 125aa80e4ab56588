import { beforeAll, describe, expect, test } from "vitest";
import { finalizer, labels } from "../../../crds/resource.ts";
import { defaultSettings, sourceKind, type SourceSpec } from "../../../crds/source.ts";
import { subscriptionKind } from "../../../crds/subscription.ts";
import { webhookKind } from "../../../crds/webhook.ts";
import { withApi } from "./support.ts";
import { until } from "../../support/until.ts";

/** What was made with kubectl: no labels of ours, code within the source, ends by reference. */
const api = withApi();
const namespace = "hw-u-ada";
const spec: SourceSpec = {
  code: "name: By hand",
  ...defaultSettings,
};

beforeAll(async () => {
  await api.store.create(sourceKind, { name: "by-hand", namespace, spec, labels: { [labels.id]: "dc_byhand" }, finalizers: [finalizer] });
  await api.store.create(webhookKind, {
    name: "hook",
    namespace,
    spec: { url: "https://x.test", active: true, signingKeys: [] },
    labels: { [labels.id]: "wh_byhand" },
  });
  await until(async () => (await api.ask("GET", "/v1/sources/dc_byhand")).body.data.component_id !== null);
});

describe("a source created with its own code", () => {
  test("has the resource's name and the component of its code", async () => {
    const { data } = (await api.ask("GET", "/v1/sources/dc_byhand")).body;
    expect(data).toMatchObject({ name: "by-hand", name_slug: "by-hand", component_id: "sc_ofbyhandcode" });
    const { data: listed } = (await api.ask("GET", "/v1/users/me/sources")).body;
    expect(listed).toMatchObject([{ id: "dc_byhand", name: "by-hand", component_id: "sc_ofbyhandcode" }]);
  });

  test("keeps its code on a change without code, and replaces it otherwise", async () => {
    const renamed = await api.ask("PUT", "/v1/sources/dc_byhand", { body: { name: "Renamed" } });
    expect(renamed.body.data).toMatchObject({ name: "Renamed", component_id: "sc_ofbyhandcode" });
    expect((await api.store.get(sourceKind, namespace, "by-hand")).spec).toMatchObject({ code: "name: By hand", name: "Renamed" });
    const replaced = await api.ask("PUT", "/v1/sources/dc_byhand", { body: { component_code: "name: Other" } });
    expect(replaced.status).toBe(200);
    const now = (await api.store.get(sourceKind, namespace, "by-hand")).spec;
    expect([now.code, now.componentRef?.name]).toEqual([undefined, replaced.body.data.component_id.replace("_", "-")]);
  });
});

describe("a subscription by reference", () => {
  const path = "/v1/subscriptions?emitter_id=dc_byhand&listener_id=wh_byhand";

  test("is shown with the ids of its references, or null if there is none", async () => {
    const made = await api.store.create(subscriptionKind, {
      name: "ref",
      namespace,
      spec: { emitterRef: { kind: "Source", name: "by-hand" }, listenerRef: { kind: "Webhook", name: "hook" }, channel: "" },
    });
    await api.store.create(subscriptionKind, {
      name: "dangling",
      namespace,
      spec: { emitterRef: { kind: "Source", name: "not-there" }, listener: "wh_byhand", channel: "" },
    });
    const now = await settled(made.metadata.name);
    await api.store.updateStatus(subscriptionKind, { ...now, status: { ...now.status, emitter: "dc_byhand", listener: "wh_byhand" } });
    const { data } = (await api.ask("GET", "/v1/users/me/subscriptions")).body;
    expect(data).toMatchObject([
      { id: "dangling", emitter_id: null, listener_id: "wh_byhand" },
      { id: "ref", emitter_id: "dc_byhand", listener_id: "wh_byhand", event_name: "" },
    ]);
  });

  test("is returned by an equal POST, and deleted by DELETE", async () => {
    expect((await api.ask("POST", path)).body.data).toMatchObject({ id: "ref" });
    expect((await api.ask("DELETE", path)).body.data).toMatchObject({ id: "ref" });
    expect(await api.store.find(subscriptionKind, namespace, "ref")).toBeUndefined();
    expect((await api.ask("DELETE", path)).status).toBe(404);
  });

  test("is deleted with its webhook", async () => {
    expect((await api.ask("DELETE", "/v1/webhooks/wh_byhand")).status).toBe(204);
    expect(await api.store.find(subscriptionKind, namespace, "dangling")).toBeUndefined();
  });

  async function settled(name: string) {
    await until(async () => (await api.store.get(subscriptionKind, namespace, name)).status.observedGeneration === 1);
    return api.store.get(subscriptionKind, namespace, name);
  }
});
