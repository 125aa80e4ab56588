import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { findProgram, objectsOf, render, type Rendered } from "../support/helm.ts";
import { withKubeApi } from "../support/kube/kube-api.ts";

/** The chart on a real API server: it takes every object, and its RBAC allows what is meant and nothing else. */
const kube = await withKubeApi({ own: true, crds: false });
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
  ["--values", join(import.meta.dirname, "values-tls.yaml")],
];
const within = { timeout: 60_000, interval: 100 };
let objects: readonly Rendered[] = [];

beforeAll(async () => {
  if (missing !== undefined) return;
  await kube.client.create("/api/v1/namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "headwater", labels: { "pod-security.kubernetes.io/warn": "restricted" } },
  });
  const text = await render();
  objects = objectsOf(text);
  const applied = await kube.kubectl(["apply", "--server-side", "-f", "-"], text);
  expect(applied.code, applied.stderr).toBe(0);
});
afterAll(() => (objects = []));

async function can(account: string, verb: string, resource: string, namespace?: string, name?: string): Promise<boolean> {
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

const missing = kube.missing ?? (findProgram("helm") === undefined || !kube.hasKubectl ? "helm or kubectl was not found" : undefined);
const suite = missing === undefined ? describe : describe.skip;

suite(`the chart on an API server${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  it("refuses a changed number of NATS servers with an explanation", async () => {
    const text = await render("--set", "nats.replicas=3", "--is-upgrade");
    const ofKind = (kind: string, name: string): string =>
      JSON.stringify(objectsOf(text).find((object) => object.kind === kind && object.metadata.name === name));
    const apply = async (object: string) => kube.kubectl(["apply", "--server-side", "--dry-run=server", "-f", "-"], object);
    for (const object of [ofKind("Job", "headwater-setup"), ofKind("StatefulSet", "headwater-nats")]) {
      await vi.waitFor(async () => expect((await apply(object)).stderr).toContain("nats.replicas is 1 here and cannot become 3"), within);
    }
    const scale = (replicas: number) =>
      kube.kubectl(["--namespace", "headwater", "scale", "statefulset", "headwater-nats", `--replicas=${replicas}`]);
    expect((await scale(3)).stderr).toContain("nats.replicas is 1 here and cannot become 3");
    // Stopped servers have their streams.
    expect(await scale(0)).toMatchObject({ code: 0, stderr: "" });
    expect((await scale(3)).stderr).toContain("nats.replicas is 1 here and cannot become 3");
    expect((await apply(ofKind("StatefulSet", "headwater-nats"))).stderr).toContain("nats.replicas is 1 here and cannot become 3");
    expect(await scale(1)).toMatchObject({ code: 0, stderr: "" });
  });

  it.each(variants)("is accepted with %j %s, and every pod is restricted", async (...flags) => {
    const text = await render(...flags.filter((flag) => flag !== undefined));
    // The number of servers may only change when there are none.
    await kube.kubectl(["delete", "statefulset", "headwater-nats", "--namespace", "headwater", "--ignore-not-found"]);
    await vi.waitFor(async () => {
      const { code, stderr } = await kube.kubectl(["apply", "--dry-run=server", "-f", "-"], text);
      expect(code, stderr).toBe(0);
      expect(stderr).not.toContain("PodSecurity");
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
