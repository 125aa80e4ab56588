import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { autoSubscriptionKind } from "../../../crds/auto-subscription.ts";
import type { SettledHolder } from "../../../crds/secret-values.ts";
import { labels, type Resource } from "../../../crds/resource.ts";
import { defaultSettings, sourceKind } from "../../../crds/source.ts";
import { subscriptionKind } from "../../../crds/subscription.ts";
import { webhookKind } from "../../../crds/webhook.ts";
import { namespaceOfOwner, newId, resourceNameOf } from "../../../domain/ids.ts";
import { autoSubscriptionReconciler } from "../../../operator/auto-subscription/reconciler.ts";
import { keyOf } from "../../../operator/controller/informer.ts";
import type { OperatorConfig, OperatorPorts } from "../../../operator/ports.ts";
import { sourceReconciler } from "../../../operator/source/reconciler.ts";
import { Slugs } from "../../../operator/source/slugs.ts";
import { subscriptionReconciler } from "../../../operator/subscription/reconciler.ts";
import { webhookReconciler } from "../../../operator/webhook/reconciler.ts";
import { SigningKeys } from "../../../operator/webhook/signing-keys.ts";
import { sourceOperator } from "./source-support.ts";
import { owner, withOperatorWorld } from "./world.ts";

const world = withOperatorWorld();
const config: OperatorConfig = { ingressUrl: "http://ingress.test", hookTimeoutMs: 20_000 };
const signal = new AbortController().signal;
const mallory = "u_mallory";
const acme = "o_acme";
const members = new Set<string>();

const ports = (): OperatorPorts => ({
  ...world.ports,
  memberships: { isMember: async (user, organization) => members.has(`${user} ${organization}`) },
});

async function newWebhook(whose: string, given: { readonly name?: string; readonly labels?: Record<string, string> } = {}) {
  const spec = { url: "https://example.com/", active: true, signingKeys: [] };
  const name = given.name ?? `hook-${randomBytes(4).toString("hex")}`;
  const { metadata } = await world.ports.store.create(webhookKind, { namespace: namespaceOfOwner(whose), ...given, name, spec });
  await webhookReconciler(config, ports(), new SigningKeys(ports()))(`${metadata.namespace}/${name}`);
  return (await world.ports.store.get(webhookKind, metadata.namespace, name)).status.id ?? "";
}

const deploy = (source: Resource, now: OperatorPorts = ports()) => sourceOperator(source, now, config)();

async function newSource(whose: string): Promise<string> {
  const id = newId("source", randomBytes);
  const source = await world.ports.store.create(sourceKind, {
    namespace: namespaceOfOwner(whose),
    name: resourceNameOf(id),
    labels: { [labels.id]: id },
    spec: { code: "export default {}", ...defaultSettings },
  });
  await sourceReconciler(config, ports(), new Slugs())(keyOf(source), signal); // The first steps set its id.
  return id;
}

/** The state of a subscription after the given number of passes. */
async function subscribe(whose: string, emitter: string, listener: string) {
  const namespace = namespaceOfOwner(whose);
  const name = `sub-${randomBytes(4).toString("hex")}`;
  await world.ports.store.create(subscriptionKind, { namespace, name, spec: { emitter, listener, channel: "" } });
  return async () => {
    const requeueAfterMs = await subscriptionReconciler(ports(), new SigningKeys(ports()))(`${namespace}/${name}`);
    const { status } = await world.ports.store.get(subscriptionKind, namespace, name);
    const ready = status.conditions?.find(({ type }) => type === "Ready");
    return { requeueAfterMs, status, reason: ready?.reason, message: ready?.message, route: await world.ports.routes.get(status.id ?? "") };
  };
}

describe("a subscription that names emitter and listener by id", () => {
  it("connects resources of its owner", async () => {
    const [source, webhook] = [await newSource(owner), await newWebhook(owner)];
    const { reason, route, requeueAfterMs } = await (await subscribe(owner, source, webhook))();
    expect([reason, requeueAfterMs]).toEqual(["Routed", undefined]);
    expect(route).toMatchObject({ owner, emitter: source, listener: { id: webhook } });
  });

  it("reports resources of other owners exactly like missing ones", async () => {
    const [theirs, theirHook] = [await newSource(owner), await newWebhook(owner)];
    const [mine, hook] = [await newSource(mallory), await newWebhook(mallory)];
    const none = { source: newId("source", randomBytes), webhook: newId("webhook", randomBytes) };
    const pairs = [
      [theirs, hook, none.source, hook],
      [mine, theirHook, mine, none.webhook],
      [mine, theirs, mine, none.source],
    ] as const;
    for (const [emitter, listener, noEmitter, noListener] of pairs) {
      const foreign = await (await subscribe(mallory, emitter, listener))();
      const missing = await (await subscribe(mallory, noEmitter, noListener))();
      expect(foreign.route).toBeUndefined();
      expect(foreign.reason).toBe(emitter === mine ? "ListenerNotFound" : "EmitterNotFound");
      expect([foreign.reason, foreign.requeueAfterMs, Object.keys(foreign.status)]).toEqual([
        missing.reason,
        missing.requeueAfterMs,
        Object.keys(missing.status),
      ]);
      const anonymous = (text: string | undefined): string | undefined => text?.replaceAll(/(dc|wh)_[0-9a-z]{12}/g, "$1_…");
      expect(anonymous(foreign.message)).toBe(anonymous(missing.message));
    }
  });

  it("connects resources of an organization while its owner is a member", async () => {
    const [source, webhook] = [await newSource(acme), await newWebhook(acme)];
    for (const [emitter, listener] of [
      [source, await newWebhook(mallory)],
      [await newSource(mallory), webhook],
      [acme, await newWebhook(mallory)],
    ] as const) {
      const look = await subscribe(mallory, emitter, listener);
      const before = await look();
      expect([before.reason?.endsWith("NotFound"), before.route]).toEqual([true, undefined]);
      expect(before.requeueAfterMs).toBeGreaterThan(0);
      members.add(`${mallory} ${acme}`);
      const joined = await look();
      expect([joined.reason, joined.route?.emitterOwner]).toEqual(["Routed", emitter === source ? acme : undefined]);
      expect(joined.requeueAfterMs).toBeLessThanOrEqual(120_000);
      members.delete(`${mallory} ${acme}`);
      expect((await look()).route).toBeUndefined();
    }
  });

  it("keeps its route after its emitter was deleted, for events emitted before", async () => {
    const [source, webhook] = [await newSource(acme), await newWebhook(mallory)];
    members.add(`${mallory} ${acme}`);
    const look = await subscribe(mallory, source, webhook);
    const { route } = await look();
    const found = await world.ports.store.findById(sourceKind, source);
    if (found === undefined) throw new Error("it was made above");
    await world.ports.store.update(sourceKind, { ...found, metadata: { ...found.metadata, finalizers: [] } });
    await world.ports.store.delete(sourceKind, found.metadata.namespace, found.metadata.name);
    expect((await look()).route).toEqual(route);
    members.delete(`${mallory} ${acme}`);
    expect((await look()).route).toBeUndefined();
  });
});

describe("an auto-subscription", () => {
  it("does not find a listener of another owner", async () => {
    const webhook = await newWebhook(owner);
    const namespace = namespaceOfOwner(mallory);
    await world.ports.store.create(autoSubscriptionKind, { namespace, name: "all", spec: { channel: "$errors", listener: webhook } });
    await autoSubscriptionReconciler(ports(), { inNamespace: () => [], countOf: () => 0, madeFor: () => [] })(`${namespace}/all`);
    const { status } = await world.ports.store.get(autoSubscriptionKind, namespace, "all");
    expect(status.listener).toBeUndefined();
    expect(status.conditions?.find(({ type }) => type === "Ready")).toMatchObject({ status: "False", reason: "ListenerNotFound" });
  });
});

describe("an id", () => {
  it("is not taken over by a copied label or name", async () => {
    const webhook = await newWebhook(owner);
    expect(await newWebhook(mallory, { name: resourceNameOf(webhook) })).not.toBe(webhook);
    expect(await newWebhook(mallory, { labels: { [labels.id]: webhook } })).not.toBe(webhook);
    const source = await newSource(owner);
    const namespace = namespaceOfOwner(mallory);
    const spec = { code: "x", ...defaultSettings };
    for (const [name, labelled] of [
      ["copy", source],
      ["odd", `${source}.more`],
    ] as const) {
      const copy = await world.ports.store.create(sourceKind, { namespace, name, labels: { [labels.id]: labelled }, spec });
      await sourceReconciler(config, ports(), new Slugs())(keyOf(copy), signal);
      const { status, metadata } = await world.ports.store.get(sourceKind, namespace, name);
      expect(status.id).toMatch(/^dc_[0-9a-z]{12}$/);
      expect([status.id === source, metadata.labels[labels.id]]).toEqual([false, status.id]);
    }
  });
});

describe("the secrets of a source", () => {
  it("are adopted before the first deployment, and settled with each deployed generation", async () => {
    const adopted: string[] = [];
    const settled: [SettledHolder, number][] = [];
    const { secretValues } = world.ports;
    const now: OperatorPorts = {
      ...ports(),
      secretValues: {
        keep: (holder, texts) => secretValues.keep(holder, texts),
        read: (holder, reference) => secretValues.read(holder, reference),
        adopt: async ({ name, generation }) => void adopted.push(`${name} ${generation} ${settled.length}`),
        settle: async (holder, references) => void settled.push([holder, references.length]),
      },
    };
    const holder = { kind: "Source", namespace: namespaceOfOwner(owner), name: "any" };
    const { token } = await secretValues.keep(holder, { token: JSON.stringify("x") });
    if (token === undefined) throw new Error("it was kept above");
    const source = await world.createSource({ code: "export default { secret: 1 }", secrets: { token } });
    await deploy(source, now);
    const { name, uid, namespace } = source.metadata;
    expect(settled).toEqual([[{ kind: "Source", namespace, name, uid, generation: 1 }, 1]]);
    expect(new Set(adopted)).toEqual(new Set([`${name} 1 0`]));
    const current = await world.ports.store.get(sourceKind, namespace, name);
    await world.ports.store.update(sourceKind, { ...current, spec: { ...current.spec, secrets: {}, code: "export default {}" } });
    await deploy(source, now);
    await deploy(source, now);
    expect(settled.slice(1)).toEqual([[{ kind: "Source", namespace, name, uid, generation: 2 }, 0]]);
  });
});
