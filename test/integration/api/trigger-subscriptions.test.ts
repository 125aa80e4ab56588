import { beforeEach, expect, test } from "vitest";
import { triggerSubscriptionName } from "../../../crds/auto-subscription.ts";
import { labels, madeFor } from "../../../crds/resource.ts";
import { subscriptionKind, subscriptionLabels } from "../../../crds/subscription.ts";
import { workflowKind } from "../../../crds/workflow.ts";
import { acme, withApi, type Answer } from "./support.ts";

/** The subscription of a workflow's source trigger, made here as the operator makes it. */
const api = withApi();
let [source, workflow, made] = ["", "", ""];
let number = 0;

const ends = (): string => `emitter_id=${source}&listener_id=${workflow}`;
const post = (): Promise<Answer> => api.ask("POST", `/v1/subscriptions?${ends()}`);
const subscriptions = async (): Promise<readonly string[]> =>
  (await api.ask("GET", "/v1/users/me/subscriptions")).body.data
    .filter(({ listener_id }: { listener_id: string }) => listener_id === workflow)
    .map(({ id }: { id: string }) => id);

async function create(query = "", trigger: (id: string) => object = (id) => ({ source_id: id })): Promise<void> {
  const created = async (path: string, body: object) => (await api.ask("POST", `${path}${query}`, { body })).body.data.id;
  source = await created("/v1/sources", { component_code: "name: Emitter" });
  workflow = await created("/v1/workflows", { name: "Orders", triggers: [trigger(source)] });
}

async function subscribeAsOperator(): Promise<void> {
  const { metadata } = (await api.store.findById(workflowKind, workflow)) ?? expect.fail("no workflow");
  made = `sub_made${++number}`;
  await api.store.create(subscriptionKind, {
    namespace: metadata.namespace,
    name: triggerSubscriptionName(metadata.name, source),
    labels: {
      [labels.id]: made,
      [madeFor]: metadata.uid,
      [subscriptionLabels.emitter]: source,
      [subscriptionLabels.listener]: workflow,
    },
    spec: { emitter: source, listener: workflow, channel: "" },
  });
}

async function expectRefused(id: string): Promise<void> {
  const message = `subscription ${id} is the trigger ${source} of workflow ${workflow} 'Orders': PUT /v1/workflows/${workflow} without that trigger ends it`;
  for (const path of [`?${ends()}`, `?${ends()}&event_name=`, `/${id}`]) {
    const { status, body } = await api.ask("DELETE", `/v1/subscriptions${path}`);
    expect([status, body.code, body.error, body.details]).toEqual([
      409,
      "subscription_of_trigger",
      message,
      { workflow_id: workflow, trigger_id: source },
    ]);
  }
}

beforeEach(() => create());

test("a repeated subscription is the trigger's, and cannot be deleted", async () => {
  await subscribeAsOperator();
  const { status, body } = await post();
  expect([status, body.data]).toEqual([200, { id: made, emitter_id: source, listener_id: workflow, event_name: "" }]);
  expect(await subscriptions()).toEqual([made]);
  await expectRefused(made);
  expect(await subscriptions()).toEqual([made]);
});

test("an earlier subscription stays with the trigger, and is deleted once the trigger is gone", async () => {
  const { id } = (await post()).body.data;
  await expectRefused(id);
  await api.ask("PUT", `/v1/workflows/${workflow}`, { body: { triggers: [] } });
  expect((await api.ask("DELETE", `/v1/subscriptions?${ends()}`)).status).toBe(200);
});

test("another channel is another subscription", async () => {
  await subscribeAsOperator();
  const { body } = await api.ask("POST", `/v1/subscriptions?${ends()}&event_name=extra`);
  expect(body.data.id).not.toBe(made);
  expect((await api.ask("DELETE", `/v1/subscriptions/${body.data.id}`)).status).toBe(200);
});

test("a trigger by the name of the source counts too", async () => {
  const { metadata, ...rest } = (await api.store.findById(workflowKind, workflow)) ?? expect.fail("no workflow");
  const spec = { ...rest.spec, triggers: [{ sourceRef: { name: source.replace("_", "-") } }] };
  await api.store.update(workflowKind, { ...rest, metadata, spec });
  await expectRefused((await post()).body.data.id);
});

test("a member who subscribes in their own name gets the trigger of the organization's workflow", async () => {
  await create(`?org_id=${acme.id}`);
  await subscribeAsOperator();
  expect((await post()).body.data.id).toBe(made);
  expect((await api.ask("POST", `/v1/subscriptions?${ends()}&org_id=${acme.id}`)).body.data.id).toBe(made);
  await expectRefused(made);
  expect((await api.ask("GET", `/v1/orgs/${acme.id}/subscriptions`)).body.data).toHaveLength(1);
});
