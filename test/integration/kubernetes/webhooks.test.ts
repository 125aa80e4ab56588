import { expect, it } from "vitest";
import { subscriptionKind } from "../../../crds/subscription.ts";
import { webhookKind } from "../../../crds/webhook.ts";
import type { WebhookFailures } from "../../../domain/delivery/webhook-failures.ts";
import { markDisabled } from "../../../operator/webhook/disabled.ts";
import { subscriptionReconciler } from "../../../operator/subscription/reconciler.ts";
import { webhookReconciler } from "../../../operator/webhook/reconciler.ts";
import { SigningKeys } from "../../../operator/webhook/signing-keys.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";
import { newOwner } from "./support.ts";
import { resourcesInCluster } from "../operator/cluster.ts";
import { withOperatorWorld } from "../operator/world.ts";

const kube = await withKubeApi();
const owner = newOwner();
const manifest = (more = ""): string => `
apiVersion: headwater.dev/v1alpha1
kind: Webhook
metadata: { name: hook }
spec:
  url: https://example.com/hook
  ${more}
`;

kube.describe("a webhook on a Kubernetes API", () => {
  const world = withOperatorWorld({ owner, resources: () => resourcesInCluster(kube) });

  it("reports that it is disabled, and is enabled by a later enabledAt", async () => {
    const namespace = await kube.namespace({ "headwater.dev/owner": owner });
    await kube.objects.apply(manifest(), namespace);
    const { store } = world.ports;
    const reconcile = async () => {
      await webhookReconciler({}, world.ports, new SigningKeys(world.ports))(`${namespace}/hook`);
      const { status } = await store.get(webhookKind, namespace, "hook");
      const condition = status.conditions?.find(({ type }) => type === "Ready");
      const route = await world.ports.routes.get(status.id ?? "");
      const isPostedTo = route?.listener.kind === "webhook" && route.listener.keys.length > 0;
      return { id: status.id ?? "", disabled: status.disabled, ready: `${condition?.status} ${condition?.reason}`, isPostedTo };
    };
    const { id, ...before } = await reconcile();
    expect(before).toEqual({ disabled: undefined, ready: "True Active", isPostedTo: true });

    const disabled = { at: Date.now(), reason: "EndpointGone", message: "the endpoint answered 410 Gone" } as const;
    const failures: WebhookFailures = { webhook: id, url: "https://example.com/hook", since: 1, last: disabled.at, disabled };
    const failingEndpoints = { ...world.ports.failingEndpoints, disabled: () => Promise.resolve([failures]) };
    const look = () => markDisabled({ ...world.ports, failingEndpoints }, new AbortController().signal);
    await look();
    expect(await reconcile()).toMatchObject({
      disabled: { url: failures.url, ...disabled },
      ready: "False EndpointGone",
      isPostedTo: false,
    });

    await kube.objects.apply(manifest(`enabledAt: "${new Date(disabled.at + 1).toISOString()}"`), namespace);
    await look(); // The status stays until something is posted.
    expect(await reconcile()).toEqual({ id, ...before });
    await look();
    expect(await reconcile()).toEqual({ id, ...before });
  });

  it("is ordered while its spec says so, like the routes of its subscriptions", async () => {
    const namespace = await kube.namespace({ "headwater.dev/owner": newOwner() });
    const { store, routes } = world.ports;
    const listenerRef = "listenerRef: { kind: Webhook, name: hook }";
    await kube.objects.apply(
      `apiVersion: headwater.dev/v1alpha1\nkind: Subscription\nmetadata: { name: all }\nspec: { emitter: "dc_*", ${listenerRef} }\n`,
      namespace,
    );
    for (const [more, ordered] of [
      ["", undefined],
      ["ordered: true", true],
      ["ordered: false", undefined],
    ] as const) {
      await kube.objects.apply(manifest(more), namespace);
      const signingKeys = new SigningKeys(world.ports);
      await webhookReconciler({}, world.ports, signingKeys)(`${namespace}/hook`);
      await subscriptionReconciler(world.ports, signingKeys)(`${namespace}/all`);
      const ids = [
        (await store.get(webhookKind, namespace, "hook")).status.id,
        (await store.get(subscriptionKind, namespace, "all")).status.id,
      ];
      for (const id of ids) {
        const listener = (await routes.get(id ?? ""))?.listener;
        expect([more, listener?.kind === "webhook" && listener.ordered]).toEqual([more, ordered]);
      }
    }
    await expect(kube.objects.apply(manifest("ordered: perhaps"), namespace)).rejects.toThrow("ordered");
  });
});
