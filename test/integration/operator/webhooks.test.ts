import { expect, it } from "vitest";
import { subscriptionKind } from "../../../crds/subscription.ts";
import { webhookKind } from "../../../crds/webhook.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { subscriptionReconciler } from "../../../operator/subscription/reconciler.ts";
import { webhookReconciler } from "../../../operator/webhook/reconciler.ts";
import { SigningKeys } from "../../../operator/webhook/signing-keys.ts";
import { owner, withOperatorWorld } from "./world.ts";

const world = withOperatorWorld({ egressAllow: ["10.1.0.0/16"] });
const namespace = namespaceOfOwner(owner);

/** A webhook, and a subscription to all events of its owner; returns the conditions of both for each given address. */
async function subscribed() {
  const { store, routes } = world.ports;
  const spec = { url: "https://example.com/", active: true, signingKeys: [] };
  await store.create(webhookKind, { namespace, name: "hook", spec });
  await store.create(subscriptionKind, {
    namespace,
    name: "all",
    spec: { emitter: "dc_*", listenerRef: { kind: "Webhook", name: "hook" }, channel: "" },
  });
  return async (url: string) => {
    const signingKeys = new SigningKeys(world.ports);
    await store.update(webhookKind, { ...(await store.get(webhookKind, namespace, "hook")), spec: { ...spec, url } });
    await webhookReconciler({}, world.ports, signingKeys)(`${namespace}/hook`);
    await subscriptionReconciler(world.ports, signingKeys)(`${namespace}/all`);
    const [webhook, subscription] = [await store.get(webhookKind, namespace, "hook"), await store.get(subscriptionKind, namespace, "all")];
    const conditions = [webhook, subscription].map(({ status }) =>
      status.conditions?.find(({ type, status: holds }) => type !== "Reconciling" && holds === "True"),
    );
    return {
      conditions: conditions.map((each) => `${each?.type} ${each?.reason}`),
      message: conditions[1]?.message,
      route: await routes.get(subscription.status.id ?? ""),
    };
  };
}

it("routes nothing to a webhook with a private address, and reports it on both, until the URL changes", async () => {
  const at = await subscribed();
  const refused = await at("http://10.2.0.5/hook");
  expect(refused.conditions).toEqual(["Stalled UrlForbidden", "Stalled ListenerNotReady"]);
  expect(refused.message).toContain("10.2.0.5");
  expect(refused.route).toBeUndefined();
  for (const url of ["http://10.1.0.5/hook", "https://example.com/hook"]) {
    const { conditions, route } = await at(url);
    expect(conditions).toEqual(["Ready Active", "Ready Routed"]);
    expect(route).toMatchObject({ listener: { kind: "webhook", url } });
  }
  expect((await at("http://[::1]/hook")).route).toBeUndefined();
});
