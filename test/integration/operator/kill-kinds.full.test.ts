import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { autoSubscriptionKind } from "../../../crds/auto-subscription.ts";
import { componentKind } from "../../../crds/component.ts";
import { holderOf } from "../../../crds/secret-values.ts";
import { sourceKind } from "../../../crds/source.ts";
import { subscriptionKind } from "../../../crds/subscription.ts";
import { webhookKind } from "../../../crds/webhook.ts";
import type { Condition, Kind, Resource } from "../../../crds/resource.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { emitterReconciler } from "../../../operator/auto-subscription/emitter-reconciler.ts";
import { madeBy, madeForEmitter, type AutoSubscriptionLookup } from "../../../operator/auto-subscription/made.ts";
import { autoSubscriptionReconciler } from "../../../operator/auto-subscription/reconciler.ts";
import { keyOf } from "../../../operator/controller/informer.ts";
import type { OperatorConfig, OperatorPorts } from "../../../operator/ports.ts";
import { ownComponentName } from "../../../operator/configured/component.ts";
import { subscriptionReconciler } from "../../../operator/subscription/reconciler.ts";
import { webhookReconciler } from "../../../operator/webhook/reconciler.ts";
import { SigningKeys } from "../../../operator/webhook/signing-keys.ts";
import { live, never, settled, survives } from "./mortal.ts";
import { idOf, sourceOperator, sourcesIn } from "./source-support.ts";
import { owner, withOperatorWorld } from "./world.ts";

const config: OperatorConfig = { ingressUrl: "http://ingress.test", hookTimeoutMs: 20_000 };
const namespace = namespaceOfOwner(owner);
const world = withOperatorWorld();
const { change } = sourcesIn(world);

/** One pass of all reconcilers involved. */
type Pass = (ports: OperatorPorts) => Promise<void>;

const sourcePass =
  (source: Resource): Pass =>
  async (ports) =>
    void (await sourceOperator(source, ports, config, settled)());

async function readyOf<S, T extends { conditions?: Condition[] | undefined }>(kind: Kind<S, T>, resource: Resource<S, T>) {
  const now = await world.ports.store.find(kind, resource.metadata.namespace, resource.metadata.name);
  return now?.status.conditions?.find(({ type }) => type === "Ready");
}

const ownComponent = (source: Resource) =>
  world.ports.store.find(componentKind, source.metadata.namespace, ownComponentName(source.metadata.name));

describe("a source with code of its own, its operator killed between any two steps", () => {
  it("gets one component, and each of its hooks runs once", async () => {
    const steps = await survives(async (dieAt) => {
      const source = await world.createSource({ code: "export default {}" });
      const died = await live(world.ports, dieAt, sourcePass(source));
      expect(await readyOf(sourceKind, source)).toMatchObject({ status: "True", reason: "Deployed" });
      expect((await ownComponent(source))?.spec.code).toBe("export default {}");
      expect(world.ran.get(idOf(source))).toEqual(["deploy 1", "activate 1"]);
      return died;
    });
    expect(steps).toBeGreaterThan(9);
  });

  it("is deployed again after its code changed, and only from that code", async () => {
    await survives(async (dieAt) => {
      const source = await world.createSource({ code: "export default { a: 1 }" });
      await live(world.ports, never, sourcePass(source));
      await change(source, { code: "export default { a: 2 }" });
      const died = await live(world.ports, dieAt, sourcePass(source));
      expect(await readyOf(sourceKind, source)).toMatchObject({ status: "True", observedGeneration: 2 });
      const component = await ownComponent(source);
      expect(component?.spec.code).toBe("export default { a: 2 }");
      const deployed = await world.ports.deployments.get(`default.${idOf(source)}`);
      expect(deployed).toMatchObject({ bundle: component?.status.build?.bundle, generation: 2 });
      expect(world.ran.get(idOf(source))).toEqual(["deploy 1", "activate 1", "deactivate 1", "activate 2"]);
      return died;
    });
  });

  it("is deleted with its component", async () => {
    await survives(async (dieAt) => {
      const source = await world.createSource({ code: "export default {}" });
      await live(world.ports, never, sourcePass(source));
      await world.ports.store.delete(sourceKind, source.metadata.namespace, source.metadata.name);
      const died = await live(world.ports, dieAt, sourcePass(source));
      expect(await readyOf(sourceKind, source)).toBeUndefined();
      expect(await ownComponent(source)).toBeUndefined();
      expect(world.ran.get(idOf(source))).toEqual(["deploy 1", "activate 1", "deactivate 1"]);
      return died;
    });
  });
});

const createWebhook = (name = `hook-${randomBytes(4).toString("hex")}`) =>
  world.ports.store.create(webhookKind, { namespace, name, spec: { url: "https://example.com/", active: true, signingKeys: [] } });

const webhookPass =
  (webhook: Resource): Pass =>
  async (ports) => {
    await webhookReconciler(config, ports, new SigningKeys(ports))(keyOf(webhook));
  };

describe("a webhook without a key, its operator killed between any two steps", () => {
  it("gets one key and is ready", async () => {
    await survives(async (dieAt) => {
      const webhook = await createWebhook();
      const died = await live(world.ports, dieAt, webhookPass(webhook));
      expect(await readyOf(webhookKind, webhook)).toMatchObject({ status: "True", reason: "Active" });
      const { status } = await world.ports.store.get(webhookKind, namespace, webhook.metadata.name);
      expect(status.id).toMatch(/^wh_/);
      expect(await world.ports.secretValues.read(holderOf(webhookKind, webhook), status.signingKey ?? {})).toMatch(/^whsec_/);
      return died;
    });
  });
});

/** The content of the caches, read from the store. */
async function lookupNow(): Promise<AutoSubscriptionLookup> {
  const autos = (await world.ports.store.list(autoSubscriptionKind, { namespace })).items;
  const made = (await world.ports.store.list(subscriptionKind, { namespace })).items;
  return {
    inNamespace: () => autos,
    countOf: (uid) => made.filter(({ metadata }) => metadata.labels[madeBy] === uid).length,
    madeFor: (emitter) => made.filter(({ metadata }) => metadata.annotations[madeForEmitter] === emitter).map(keyOf),
  };
}

function autoSubscriptionPass(auto: Resource, source: Resource): Pass {
  return async (ports) => {
    await autoSubscriptionReconciler(ports, await lookupNow())(keyOf(auto));
    await sourcePass(source)(ports);
    await emitterReconciler(ports, sourceKind, await lookupNow())(keyOf(source));
    const keys = new SigningKeys(ports);
    const made = await world.ports.store.list(subscriptionKind, { namespace, labels: { [madeBy]: auto.metadata.uid } });
    for (const subscription of made.items) await subscriptionReconciler(ports, keys)(keyOf(subscription));
    await autoSubscriptionReconciler(ports, await lookupNow())(keyOf(auto));
  };
}

describe("an auto-subscription, its operator killed between any two steps", () => {
  const createAuto = (listener: string) =>
    world.ports.store.create(autoSubscriptionKind, {
      namespace,
      name: `auto-${randomBytes(4).toString("hex")}`,
      spec: { channel: "$errors", listenerRef: { kind: "Webhook", name: listener } },
    });
  const madeByAuto = async (auto: Resource) =>
    (await world.ports.store.list(subscriptionKind, { namespace, labels: { [madeBy]: auto.metadata.uid } })).items;

  async function create() {
    const webhook = await createWebhook();
    await live(world.ports, never, webhookPass(webhook));
    const auto = await createAuto(webhook.metadata.name);
    const source = await world.createSource({ code: "export default {}" });
    return { auto, source };
  }

  it("subscribes each source created after it once", async () => {
    await survives(async (dieAt) => {
      const { auto, source } = await create();
      const died = await live(world.ports, dieAt, autoSubscriptionPass(auto, source));
      const made = await madeByAuto(auto);
      expect(made.map(({ spec }) => spec)).toMatchObject([{ emitter: idOf(source), channel: "$errors" }]);
      expect(await world.ports.routes.get(made[0]?.status.id ?? "")).toMatchObject({ emitter: idOf(source), channel: "$errors" });
      await world.ports.store.delete(autoSubscriptionKind, namespace, auto.metadata.name);
      await live(world.ports, never, autoSubscriptionPass(auto, source));
      await live(world.ports, never, autoSubscriptionPass(auto, source));
      return died;
    });
  });

  it("does not subscribe sources created before it", async () => {
    const before = await world.createSource({ code: "export default {}" });
    // Timestamps of resources are whole seconds, and equal ones count as later.
    await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(before.metadata.creationTimestamp) + 1_000);
    const { auto } = await create();
    await live(world.ports, never, autoSubscriptionPass(auto, before));
    expect(await madeByAuto(auto)).toEqual([]);
  });

  it("is deleted with the subscriptions it created", async () => {
    await survives(async (dieAt) => {
      const { auto, source } = await create();
      await live(world.ports, never, autoSubscriptionPass(auto, source));
      const [made] = await madeByAuto(auto);
      await world.ports.store.delete(autoSubscriptionKind, namespace, auto.metadata.name);
      const died = await live(world.ports, dieAt, autoSubscriptionPass(auto, source));
      expect(await madeByAuto(auto)).toEqual([]);
      expect(await world.ports.store.find(autoSubscriptionKind, namespace, auto.metadata.name)).toBeUndefined();
      expect(await world.ports.routes.get(made?.status.id ?? "none")).toBeUndefined();
      return died;
    });
  });

  it("does not recreate a subscription that a user deleted", async () => {
    const { auto, source } = await create();
    const pass = autoSubscriptionPass(auto, source);
    await live(world.ports, never, pass);
    const [made] = await madeByAuto(auto);
    await world.ports.store.delete(subscriptionKind, namespace, made?.metadata.name ?? "");
    await live(world.ports, never, pass);
    await live(world.ports, never, pass);
    expect(await madeByAuto(auto)).toEqual([]);
  });
});
