import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { autoSubscriptionKind } from "../../../crds/auto-subscription.ts";
import type { Resource } from "../../../crds/resource.ts";
import { sourceKind } from "../../../crds/source.ts";
import { subscriptionKind, type SubscriptionSpec } from "../../../crds/subscription.ts";
import { webhookKind } from "../../../crds/webhook.ts";
import { workflowKind } from "../../../crds/workflow.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { endConnectionsOf } from "../../../operator/end-connections.ts";
import { keyOf } from "../../../operator/controller/informer.ts";
import type { OperatorPorts } from "../../../operator/ports.ts";
import { sourceReconciler } from "../../../operator/source/reconciler.ts";
import { Slugs } from "../../../operator/source/slugs.ts";
import { startOperator } from "../../../operator/start.ts";
import { subscriptionReconciler } from "../../../operator/subscription/reconciler.ts";
import { SigningKeys } from "../../../operator/webhook/signing-keys.ts";
import { until } from "../../support/until.ts";
import { live, settled, survives } from "./mortal.ts";
import { owner, withOperatorWorld } from "./world.ts";

const world = withOperatorWorld();
const config = { ingressUrl: "http://ingress.test", hookTimeoutMs: 20_000 };
const namespace = namespaceOfOwner(owner);
const stranger = "u_stranger";
let names = 0;

const subscribe = async (spec: Partial<SubscriptionSpec>, where = namespace): Promise<string> => {
  const name = `sub-${names++}`;
  await world.ports.store.create(subscriptionKind, { namespace: where, name, spec: { channel: "", ...spec } });
  return name;
};
const subscriptions = async (where = namespace): Promise<readonly string[]> =>
  (await world.ports.store.list(subscriptionKind, { namespace: where })).items.map(({ metadata }) => metadata.name).toSorted();

describe("an operator", () => {
  let operator: { stop(): Promise<void> };
  beforeAll(async () => {
    operator = await startOperator(config, world.ports);
  });
  afterAll(() => operator.stop());

  const deployed = async (source: Resource): Promise<string> => {
    const idOf = async () => (await world.ports.store.get(sourceKind, namespace, source.metadata.name)).status.deployment;
    await until(async () => (await idOf()) !== undefined, "it is deployed");
    return (await world.ports.store.get(sourceKind, namespace, source.metadata.name)).status.id ?? "";
  };

  it("deletes the subscriptions of a deleted source, as emitter and as listener, and keeps all others", async () => {
    const { store } = world.ports;
    const [source, other] = [await world.createSource(), await world.createSource()];
    const [id, otherId] = [await deployed(source), await deployed(other)];
    const ref = { kind: "Source", name: source.metadata.name } as const;
    const ended = [
      await subscribe({ emitter: id, listener: otherId }),
      await subscribe({ emitter: otherId, listener: id, channel: "named" }),
      await subscribe({ emitterRef: ref, listener: otherId }),
      await subscribe({ emitter: "dc_*", listenerRef: ref }),
    ];
    const kept = [
      await subscribe({ emitter: "dc_*", listener: otherId }),
      await subscribe({ emitterRef: { kind: "Workflow", name: source.metadata.name }, listener: otherId }),
    ];
    const foreign = await subscribe({ emitter: id, listener: "wh_theirs" }, namespaceOfOwner(stranger));
    await store.create(autoSubscriptionKind, { namespace, name: "auto", spec: { channel: "$errors", listener: id } });
    await until(async () => (await subscriptions()).length === ended.length + kept.length, "all are there");

    await store.delete(sourceKind, namespace, source.metadata.name);
    await until(async () => (await store.find(sourceKind, namespace, source.metadata.name)) === undefined, "the source is gone");
    await until(async () => (await subscriptions()).join() === kept.join(), "its subscriptions are gone");
    await until(async () => (await store.find(autoSubscriptionKind, namespace, "auto")) === undefined, "so is what made more");
    expect(await subscriptions(namespaceOfOwner(stranger))).toEqual([foreign]);
  });

  it("deletes the subscriptions of a deleted webhook and of a deleted workflow", async () => {
    const { store } = world.ports;
    const before = await subscriptions();
    await store.create(webhookKind, { namespace, name: "hook", spec: { url: "https://example.com/", active: true, signingKeys: [] } });
    await store.create(workflowKind, { namespace, name: "flow", spec: workflowKind.spec.parse({ steps: [] }) });
    await subscribe({ emitter: "dc_*", listenerRef: { kind: "Webhook", name: "hook" } });
    await subscribe({ emitter: "dc_*", listenerRef: { kind: "Workflow", name: "flow" } });
    const idOf = async () => [
      (await store.get(webhookKind, namespace, "hook")).status.id,
      (await store.get(workflowKind, namespace, "flow")).status.id,
    ];
    await until(async () => (await idOf()).every((id) => id !== undefined), "both have ids");
    await store.delete(webhookKind, namespace, "hook");
    await store.delete(workflowKind, namespace, "flow");
    await until(async () => (await subscriptions()).join() === before.join(), "theirs are gone");
  });
});

it("leaves no subscription of the source when it is killed between any two steps of a deletion", async () => {
  const signal = new AbortController().signal;
  await survives(async (dieAt) => {
    const source = await world.createSource();
    const key = keyOf(source);
    const reconciled = sourceReconciler(config, world.ports, new Slugs());
    await settled(() => reconciled(key, signal));
    const { id = "" } = (await world.ports.store.get(sourceKind, namespace, source.metadata.name)).status;
    const made = [await subscribe({ emitter: id, listener: "wh_1" }), await subscribe({ emitter: "dc_1", listener: id })];
    await world.ports.store.delete(sourceKind, namespace, source.metadata.name);
    const lookup = { subscriptionsOf: () => made.map((name) => `${namespace}/${name}`), autoSubscriptionsTo: () => [] };
    const pass = async (ports: OperatorPorts): Promise<void> => {
      const reconcile = sourceReconciler(config, ports, new Slugs(), endConnectionsOf(ports, lookup));
      await settled(() => reconcile(key, signal));
      for (const name of made) await subscriptionReconciler(ports, new SigningKeys(ports))(`${namespace}/${name}`);
    };
    const died = await live(world.ports, dieAt, pass);
    expect(await world.ports.store.find(sourceKind, namespace, source.metadata.name)).toBeUndefined();
    expect((await subscriptions()).filter((name) => made.includes(name))).toEqual([]);
    return died;
  });
});
