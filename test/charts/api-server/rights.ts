import { join } from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { renderObjects, type Rendered } from "../../support/helm.ts";
import { messageOf } from "../../support/kube/kube-api-client.ts";
import type { KubeApi } from "../../support/kube/kube-api.ts";
import { applyObjects } from "../../support/kube/kube-manifests.ts";
import { accounts, describeRight, kubernetesRights, rightsOfRules, type KubernetesRight } from "../../support/rights/kubernetes.ts";

const ruleSchema = z.object({
  apiGroups: z.array(z.string()),
  resources: z.array(z.string()),
  verbs: z.array(z.string()),
  resourceNames: z.array(z.string()).optional(),
});
const reviewSchema = z.object({ status: z.object({ resourceRules: z.array(ruleSchema), incomplete: z.literal(false) }) });
/** Every account may ask what it may do. */
const everybodys = ["authentication.k8s.io", "authorization.k8s.io"];
const variants = [
  [],
  ["--set", "nats.replicas=3,kubernetesIngress.enabled=true,kubernetesIngress.apiHost=a.example.com"],
  ["--is-upgrade"],
  ["--set", "backup.enabled=true,backup.restore=2026-11-27T02-17-01-204Z"],
  ["--values", join(import.meta.dirname, "../values-tls.yaml")],
];
const within = { timeout: 60_000, interval: 100 };

/** The rights that the API server reports for a ServiceAccount in a namespace. */
async function reportedRights(kube: KubeApi, account: string, namespace: string): Promise<readonly string[]> {
  const path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
  const review = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec: { namespace } };
  const { body } = await kube.client.request("POST", path, review, {
    "impersonate-user": `system:serviceaccount:headwater:headwater-${account}`,
  });
  const rules = reviewSchema.parse(body).status.resourceRules.filter(({ apiGroups }) => !everybodys.includes(apiGroups.join()));
  return sorted(rightsOfRules(account, "everywhere", rules));
}

/** The rights of the table that an account has in a namespace. */
const expectedRights = (account: string, namespace: string): readonly string[] =>
  sorted(kubernetesRights.filter(({ role, where }) => role === account && (where === "everywhere" || namespace === "headwater")));

/** Without names that only an installation with backups has. */
const sorted = (rights: readonly KubernetesRight[]): readonly string[] =>
  [
    ...new Set(
      rights.map(({ names, ...right }) => {
        const known = names?.filter((name) => !name.endsWith("-backup")).toSorted();
        return `${describeRight({ ...right, where: "everywhere" })}${known === undefined ? "" : ` ${known.join()}`}`;
      }),
    ),
  ].toSorted();

/** The API server takes every object of the chart, and its RBAC allows what is meant and nothing else. */
export function describeRights(kube: KubeApi): void {
  describe("the chart", () => {
    let objects: readonly Rendered[] = [];
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

    it("declares the rights of the table, and no others", async () => {
      const withBackups = await renderObjects("--set", "backup.enabled=true");
      const declared = withBackups.flatMap(({ kind, metadata, ...role }) =>
        kind === "Role" || kind === "ClusterRole"
          ? rightsOfRules(
              metadata.name.replace(/^headwater-/, ""),
              kind === "Role" ? "release" : "everywhere",
              z.array(ruleSchema).parse(role["rules"]),
            )
          : [],
      );
      const described = (rights: readonly KubernetesRight[]): readonly string[] =>
        rights.map(({ names = [], ...right }) => `${describeRight(right)} ${names.join()}`).toSorted();
      expect(described(declared)).toEqual(described(kubernetesRights));
    });

    it.each(accounts)("lets %s do what its rows grant, and nothing else", async (account) => {
      for (const inNamespace of ["headwater", "headwater-default", "kube-system"])
        expect(await reportedRights(kube, account, inNamespace)).toEqual(expectedRights(account, inNamespace));
    });
  });
}
