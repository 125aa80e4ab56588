import { vi } from "vitest";
import { messageOf } from "../support/kube/kube-api-client.ts";
import type { KubeApi } from "../support/kube/kube-api.ts";
import { applyObjects } from "../support/kube/kube-manifests.ts";
import { renderObjects } from "../support/helm.ts";

export type Account = "operator" | "api" | "create-secrets";
type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** `allowed`, or the server's message of the refusal. */
export type Verdict = string;

/** Requests of a ServiceAccount of the chart. Nothing is stored: the server only admits or refuses. */
export async function requestAs(kube: KubeApi, account: Account, method: Method, path: string, body?: unknown): Promise<Verdict> {
  const answer = await kube.client.request(method, `${path}${path.includes("?") ? "&" : "?"}dryRun=All`, body, {
    "impersonate-user": `system:serviceaccount:headwater:headwater-${account}`,
    "content-type": contentTypes[method] ?? "application/json",
  });
  return answer.status < 300 ? "allowed" : messageOf(answer);
}

const contentTypes: Partial<Record<Method, string>> = { PATCH: "application/merge-patch+json" };

/** Applies the rendered chart and waits until the server enforces its policies. */
export async function applyChart(kube: KubeApi, ...flags: readonly string[]): Promise<void> {
  await namespace(kube, "headwater", { "pod-security.kubernetes.io/warn": "restricted" });
  await namespace(kube, "team-a");
  await applyObjects(kube.client, await renderObjects(...flags));
  await vi.waitFor(
    async () => {
      const verdict = await requestAs(kube, "operator", "POST", bindings("team-a"), binding());
      if (!verdict.includes("headwater.dev/owner")) throw new Error(`a RoleBinding without an owner's label: ${verdict}`);
    },
    { timeout: 60_000, interval: 100 },
  );
}

export const namespace = (kube: KubeApi, name: string, labels: Readonly<Record<string, string>> = {}): Promise<unknown> =>
  kube.client.create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });

export const bindings = (inNamespace: string): string => `/apis/rbac.authorization.k8s.io/v1/namespaces/${inNamespace}/rolebindings`;

/** The RoleBinding of the API in an owner's namespace, and its ClusterRole. */
export const apiBinding = "headwater-owner-secrets-api";

/** The RoleBinding that the operator creates in an owner's namespace, with changes. */
export function binding({
  name = "headwater-operator",
  role = "headwater-owner-secrets",
  account = name,
  subject = {},
}: { readonly name?: string; readonly role?: string; readonly account?: string; readonly subject?: object } = {}) {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
    subjects: [{ kind: "ServiceAccount", name: account, namespace: "headwater", ...subject }],
  };
}
