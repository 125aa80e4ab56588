import { expect, it } from "vitest";
import { webhookKind } from "../../crds/webhook.ts";
import type { EndpointFailures } from "../../domain/endpoint-failures.ts";
import { markDisabled } from "../../operator/webhook/disabled.ts";
import { webhookReconciler } from "../../operator/webhook/reconciler.ts";
import { SigningKeys } from "../../operator/webhook/signing-keys.ts";
import { withKubeApi } from "../support/kube-api.ts";
import { newOwner } from "./kubernetes-support.ts";
import { resourcesInCluster } from "./operator-cluster.ts";
import { withOperatorWorld } from "./operator-world.ts";

const kube = await withKubeApi();
const owner = newOwner();
const manifest = (enabledAt = ""): string => `
apiVersion: headwater.dev/v1alpha1
kind: Webhook
metadata: { name: hook }
spec:
  url: https://example.com/hook
  ${enabledAt}
`;

kube.describe("a webhook on a Kubernetes API", () => {
  const world = withOperatorWorld({ owner, resources: () => resourcesInCluster(kube) });

  it("says that it was disabled, and is enabled by a later time in its spec", async () => {
    const namespace = await kube.namespace({ "headwater.dev/owner": owner });
    await kube.objects.apply(manifest(), namespace);
    const { store } = world.ports;
    const reconcile = async () => {
      await webhookReconciler({}, world.ports, new SigningKeys(world.ports))(`${namespace}/hook`);
      const { status } = await store.get(webhookKind, namespace, "hook");
      const condition = status.conditions?.find(({ type }) => type === "Ready");
      const route = await world.ports.routes.get(status.id ?? "");
      const isPostedTo = route?.listener.kind === "webhook" && route.listener.keys.length > 0;
      return { id: status.id ?? "", disabled: status.disabled, told: `${condition?.status} ${condition?.reason}`, isPostedTo };
    };
    const { id, ...before } = await reconcile();
    expect(before).toEqual({ disabled: undefined, told: "True Active", isPostedTo: true });

    const disabled = { at: Date.now(), reason: "EndpointGone", message: "the endpoint answered 410 Gone" } as const;
    const failures: EndpointFailures = { webhook: id, url: "https://example.com/hook", since: 1, last: disabled.at, disabled };
    const failingEndpoints = { ...world.ports.failingEndpoints, disabled: () => Promise.resolve([failures]) };
    const look = () => markDisabled({ ...world.ports, failingEndpoints }, new AbortController().signal);
    await look();
    expect(await reconcile()).toMatchObject({
      disabled: { url: failures.url, ...disabled },
      told: "False EndpointGone",
      isPostedTo: false,
    });

    await kube.objects.apply(manifest(`enabledAt: "${new Date(disabled.at + 1).toISOString()}"`), namespace);
    await look(); // What is written of it stays there until something is posted.
    expect(await reconcile()).toEqual({ id, ...before });
    await look();
    expect(await reconcile()).toEqual({ id, ...before });
  });
});
