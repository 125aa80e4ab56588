import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { WorkloadObject } from "../../../operator/runner-pool/objects/objects.ts";
import { podSettings } from "../../../operator/runner-pool/objects/pod-settings.ts";
import { planOf, poolOf } from "../../operator/runner-pool/pools.ts";
import { renderObjects } from "../../support/helm.ts";
import type { KubeApi } from "../../support/kube/kube-api.ts";
import { applyObjects } from "../../support/kube/kube-manifests.ts";
import { requestAs } from "../as-account.ts";

const values = (name: string): string => `--values=${join(import.meta.dirname, `../values-${name}.yaml`)}`;
const paths: Readonly<Record<WorkloadObject["kind"], string>> = {
  Secret: "/api/v1/namespaces/headwater/secrets",
  ServiceAccount: "/api/v1/namespaces/headwater/serviceaccounts",
  NetworkPolicy: "/apis/networking.k8s.io/v1/namespaces/headwater/networkpolicies",
  Deployment: "/apis/apps/v1/namespaces/headwater/deployments",
  PodDisruptionBudget: "/apis/policy/v1/namespaces/headwater/poddisruptionbudgets",
};
const configuration = z.object({ data: z.object({ "runner-pods.json": z.string() }) });

/** The chart's policies admit the objects that the operator makes by the chart's settings, whatever the values. */
export function describeRunnerPods(kube: KubeApi): void {
  describe("the objects of a runner pool", () => {
    it.each([
      ["the defaults", []],
      ["certificates and private authorities", [values("tls")]],
      ["servers of your own", [values("external")]],
      [
        "a digest, and further settings",
        ["--set-string", `image.digest=sha256:${"a".repeat(64)},settings.environment.HEADWATER_RUN_TIMEOUT=60`],
      ],
    ] as const)("are admitted with %s", async (_, flags) => {
      const objects = await renderObjects(...flags);
      const policies = objects.filter(({ kind }) => kind.startsWith("ValidatingAdmissionPolicy"));
      await applyObjects(kube.client, policies);
      const settings = configuration.parse(
        objects.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "headwater-runner-pods"),
      );
      const plan = planOf(poolOf("default"), podSettings.parse(JSON.parse(settings.data["runner-pods.json"])), undefined, 2);
      expect(plan.map(({ kind }) => kind).toSorted()).toEqual(Object.keys(paths).toSorted());
      for (const object of plan)
        await vi.waitFor(async () => expect(await requestAs(kube, "operator", "POST", paths[object.kind], object)).toBe("allowed"), within);
    });
  });
}

/** Changed policies take effect after a moment. */
const within = { timeout: 60_000, interval: 100 };
