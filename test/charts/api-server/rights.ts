import { join } from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { renderObjects, type Rendered } from "../../support/helm.ts";
import { messageOf } from "../../support/kube/kube-api-client.ts";
import type { KubeApi } from "../../support/kube/kube-api.ts";
import { applyObjects } from "../../support/kube/kube-manifests.ts";

const ruleSchema = z.object({
  apiGroups: z.array(z.string()),
  resources: z.array(z.string()),
  verbs: z.array(z.string()),
  resourceNames: z.array(z.string()).optional(),
});
const reviewSchema = z.object({ status: z.object({ allowed: z.boolean() }) });
const variants = [
  [],
  ["--set", "nats.replicas=3,kubernetesIngress.enabled=true,kubernetesIngress.apiHost=a.example.com"],
  ["--is-upgrade"],
  ["--set", "backup.enabled=true,backup.restore=2026-11-27T02-17-01-204Z"],
  ["--values", join(import.meta.dirname, "../values-tls.yaml")],
];
const within = { timeout: 60_000, interval: 100 };
async function isAllowed(
  kube: KubeApi,
  account: string,
  verb: string,
  resource: string,
  namespace?: string,
  name?: string,
): Promise<boolean> {
  const [plural = "", ...group] = resource.split(".");
  const [main = "", subresource] = plural.split("/");
  const { body } = await kube.client.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    spec: {
      user: `system:serviceaccount:headwater:headwater-${account}`,
      groups: ["system:serviceaccounts", "system:serviceaccounts:headwater", "system:authenticated"],
      resourceAttributes: { verb, group: group.join("."), resource: main, subresource, namespace, name },
    },
  });
  return reviewSchema.parse(body).status.allowed;
}

/** The API server takes every object of the chart, and its RBAC allows what is meant and nothing else. */
export function describeRights(kube: KubeApi): void {
  describe("the chart", () => {
    let objects: readonly Rendered[] = [];
    const can = (account: string, verb: string, resource: string, inNamespace?: string, name?: string): Promise<boolean> =>
      isAllowed(kube, account, verb, resource, inNamespace, name);
    beforeAll(async () => {
      objects = await renderObjects();
    });

    it("refuses a changed number of NATS servers with an explanation", async () => {
      const upgraded = await renderObjects("--set", "nats.replicas=3", "--is-upgrade");
      const refusal = "nats.replicas is 1 here and cannot become 3";
      const apply = async (name: string) => {
        const changed = upgraded.filter(({ kind, metadata }) => `${kind} ${metadata.name}` === name);
        return applyObjects(kube.client, changed, { isDryRun: true });
      };
      for (const name of ["Job headwater-setup", "StatefulSet headwater-nats"])
        await vi.waitFor(() => expect(apply(name)).rejects.toThrow(refusal), within);
      const path = "/apis/apps/v1/namespaces/headwater/statefulsets/headwater-nats/scale";
      const scale = async (replicas: number): Promise<string> => {
        const answer = await kube.client.request("PATCH", path, { spec: { replicas } }, { "content-type": "application/merge-patch+json" });
        return answer.status === 200 ? "scaled" : messageOf(answer);
      };
      expect(await scale(3)).toContain(refusal);
      // Stopped servers have their streams.
      expect(await scale(0)).toBe("scaled");
      expect(await scale(3)).toContain(refusal);
      await expect(apply("StatefulSet headwater-nats")).rejects.toThrow(refusal);
      expect(await scale(1)).toBe("scaled");
    });

    it.each(variants)("is accepted with %j %s, and every pod is restricted", async (...flags) => {
      const variant = await renderObjects(...flags.filter((flag) => flag !== undefined));
      // The number of servers may only change when there are none.
      await kube.client.request("DELETE", "/apis/apps/v1/namespaces/headwater/statefulsets/headwater-nats");
      await vi.waitFor(async () => {
        const warnings = await applyObjects(kube.client, variant, { isDryRun: true });
        expect(warnings.filter((warning) => warning.includes("PodSecurity"))).toEqual([]);
      }, within);
    });

    it("grants no wildcard, no cluster-admin, and no account Secrets of all namespaces", () => {
      const roles = objects.filter(({ kind }) => kind === "Role" || kind === "ClusterRole");
      expect(roles.length).toBeGreaterThan(5);
      const ofSecrets = new Set<string>();
      for (const { kind, metadata, ...role } of roles) {
        for (const { apiGroups, resources, verbs } of z.array(ruleSchema).parse(role["rules"])) {
          expect([...apiGroups, ...resources, ...verbs], metadata.name).not.toContain("*");
          if (kind === "ClusterRole" && resources.includes("secrets")) ofSecrets.add(metadata.name);
        }
      }
      expect([...ofSecrets].toSorted()).toEqual(["headwater-owner-secrets", "headwater-owner-secrets-api"]);
      const bound = objects
        .filter(({ kind }) => kind === "ClusterRoleBinding")
        .map((binding) => z.object({ name: z.string() }).parse(binding["roleRef"]).name);
      expect(bound.toSorted()).toEqual(["headwater-api", "headwater-operator"]);
    });

    it.each([
      ["operator", "patch", "sources/status.headwater.dev", "headwater-default", true],
      ["operator", "create", "sources.headwater.dev", "headwater-default", false],
      ["operator", "create", "components.headwater.dev", "headwater-default", true],
      ["operator", "create", "deployments.apps", "headwater", true],
      ["operator", "create", "deployments.apps", "headwater-default", false],
      ["operator", "get", "secrets", "headwater", false],
      ["operator", "patch", "secrets", "headwater", true],
      ["operator", "list", "secrets", "headwater", false],
      ["operator", "get", "secrets", "headwater-default", false],
      ["operator", "get", "secrets", "kube-system", false],
      ["operator", "create", "clusterrolebindings.rbac.authorization.k8s.io", undefined, false],
      ["operator", "create", "pods", "headwater", false],
      ["operator", "create", "pods/exec", "headwater", false],
      ["operator", "delete", "namespaces", undefined, false],
      ["api", "create", "sources.headwater.dev", "headwater-default", true],
      ["api", "update", "sources/status.headwater.dev", "headwater-default", false],
      ["api", "create", "namespaces", undefined, true],
      ["api", "delete", "namespaces", undefined, false],
      ["api", "get", "secrets", "headwater", false],
      ["api", "create", "rolebindings.rbac.authorization.k8s.io", "headwater-default", false],
      ["api", "create", "deployments.apps", "headwater", false],
      ["delivery", "get", "sources.headwater.dev", "headwater-default", false],
      ["ingress", "get", "sources.headwater.dev", "headwater-default", false],
      ["builder", "get", "secrets", "headwater", false],
      ["setup", "get", "secrets", "headwater", false],
      ["setup", "create", "secrets", "headwater", false],
      ["create-secrets", "create", "secrets", "headwater", true],
      ["create-secrets", "list", "secrets", "headwater", false],
      ["create-secrets", "create", "secrets", "headwater-default", false],
    ] as const)("%s may %s %s in %s: %s", async (account, verb, resource, namespace, allowed) => {
      expect(await can(account, verb, resource, namespace)).toBe(allowed);
    });

    it("lets the operator bind only the roles of owners' Secrets, and delete only the RoleBinding of an earlier release", async () => {
      const bind = (name: string) => can("operator", "bind", "clusterroles.rbac.authorization.k8s.io", undefined, name);
      expect([await bind("headwater-owner-secrets"), await bind("headwater-owner-secrets-api")]).toEqual([true, true]);
      expect([await bind("cluster-admin"), await bind("edit")]).toEqual([false, false]);
      const remove = (name: string) => can("operator", "delete", "rolebindings.rbac.authorization.k8s.io", "headwater-default", name);
      expect([await remove("headwater-api"), await remove("headwater-operator"), await remove("theirs")]).toEqual([true, false, false]);
    });
  });
}
