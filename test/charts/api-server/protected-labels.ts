import { beforeAll, describe, expect, it, vi } from "vitest";
import { messageOf } from "../../support/kube/kube-api-client.ts";
import type { KubeApi } from "../../support/kube/kube-api.ts";
import { namespace } from "../as-account.ts";

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const webhooks = "/apis/headwater.dev/v1alpha1/namespaces/eves/webhooks";
const of = (name: string): string => `/api/v1/namespaces/${name}`;
const serviceAccount = (name: string): string => `system:serviceaccount:headwater:headwater-${name}`;

type Method = "POST" | "PUT" | "PATCH";

async function requestBy(kube: KubeApi, user: string, method: Method, path: string, body: object): Promise<string> {
  const answer = await kube.client.request(method, `${path}?dryRun=All`, body, {
    "impersonate-user": user,
    "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json",
  });
  return answer.status < 300 ? "allowed" : messageOf(answer);
}

const labelled = (labels: Readonly<Record<string, string | null>>): object => ({ metadata: { labels } });
const webhook = (labels: Readonly<Record<string, string>> = {}): object => ({
  apiVersion: "headwater.dev/v1alpha1",
  kind: "Webhook",
  metadata: { name: "planted", labels },
  spec: { url: "https://example.com/" },
});

async function grant(kube: KubeApi, name: string, user: string, rules: readonly object[]): Promise<void> {
  const meta = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name } };
  await kube.client.create(`${rbac}/clusterroles`, { ...meta, kind: "ClusterRole", rules });
  await bind(kube, name, user, name);
}

const bind = (kube: KubeApi, name: string, user: string, role: string): Promise<unknown> =>
  kube.client.create(`${rbac}/clusterrolebindings`, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
    subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: user }],
  });

const ownerLabel = "says whose secrets are kept in the namespace";
const ownLabels = "labels that begin with headwater.dev/ are written by Headwater";
type Case = readonly [what: string, user: string, method: Method, path: string, body: object, refusal?: string];

const cases: readonly Case[] = [
  ["claims her namespace for another owner", "eve", "PATCH", of("eves"), labelled({ "headwater.dev/owner": "u_victim" }), ownerLabel],
  ["gives her owner's namespace to another one", "eve", "PATCH", of("owned"), labelled({ "headwater.dev/owner": "u_victim" }), ownerLabel],
  ["takes the label of an owner away", "eve", "PATCH", of("owned"), labelled({ "headwater.dev/owner": null }), ownerLabel],
  ["claims it by the status", "eve", "PATCH", `${of("eves")}/status`, labelled({ "headwater.dev/owner": "u_victim" }), ownerLabel],
  [
    "creates a namespace of another owner",
    "eve",
    "POST",
    "/api/v1/namespaces",
    { metadata: { name: "hw-u-victim", labels: { "headwater.dev/owner": "u_victim" } } },
    ownerLabel,
  ],
  ["writes another label of an owner's namespace", "eve", "PATCH", of("owned"), labelled({ team: "a" })],
  ["creates a namespace without an owner", "eve", "POST", "/api/v1/namespaces", { metadata: { name: "eves-second" } }],
  [
    "claims a namespace as the operator",
    serviceAccount("operator"),
    "PATCH",
    of("eves"),
    labelled({ "headwater.dev/owner": "u_x" }),
    "forbidden",
  ],
  ["assigns a namespace to an owner", "ann", "PATCH", of("eves"), labelled({ "headwater.dev/owner": "u_victim" })],

  ["creates a resource with the id of another", "eve", "POST", webhooks, webhook({ "headwater.dev/id": "wh_victim" }), ownLabels],
  ["gives her resource the id of another", "eve", "PATCH", `${webhooks}/hers`, labelled({ "headwater.dev/id": "wh_victim" }), ownLabels],
  ["changes the id of her resource", "eve", "PATCH", `${webhooks}/known`, labelled({ "headwater.dev/id": "wh_victim" }), ownLabels],
  ["marks it as made by the operator", "eve", "PATCH", `${webhooks}/hers`, labelled({ "headwater.dev/made-for": "uid" }), ownLabels],
  ["creates a resource with labels of her own", "eve", "POST", webhooks, webhook({ team: "a" })],
  ["changes a label of her own, beside Headwater's", "eve", "PATCH", `${webhooks}/known`, labelled({ team: "b" })],
  ["removes a label, which the operator writes again", "eve", "PATCH", `${webhooks}/known`, labelled({ "headwater.dev/id": null })],
  [
    "writes a label as the operator",
    serviceAccount("operator"),
    "PUT",
    `${webhooks}/hers`,
    webhook({ "headwater.dev/id": "wh_1" }),
    "hers",
  ],
  ["restores a resource with its label", "ann", "PATCH", `${webhooks}/hers`, labelled({ "headwater.dev/id": "wh_1" })],
];

/** Requests of users of the cluster: eve may do everything in her namespace, and change its labels; ann has the ClusterRole headwater-admin besides. */
export function describeProtectedLabels(kube: KubeApi): void {
  describe("a user of the cluster", () => {
    beforeAll(async () => {
      await namespace(kube, "eves");
      await namespace(kube, "owned", { "headwater.dev/owner": "u_eve" });
      const all = ["get", "create", "update", "patch"];
      const rules = [
        { apiGroups: [""], resources: ["namespaces", "namespaces/status"], verbs: all },
        { apiGroups: ["headwater.dev"], resources: ["webhooks"], verbs: all },
      ];
      await grant(kube, "tenant-eve", "eve", rules);
      await grant(kube, "tenant-ann", "ann", rules);
      await bind(kube, "admin-ann", "ann", "headwater-admin");
      const named = (name: string, labels: Readonly<Record<string, string>> = {}) => ({ ...webhook(), metadata: { name, labels } });
      await kube.client.create(webhooks, named("hers"));
      await kube.client.create(webhooks, named("known", { "headwater.dev/id": "wh_known" }));
      // The server enforces a policy, and grants rights, a moment after they are created.
      await vi.waitFor(
        async () => {
          expect(await requestBy(kube, "eve", "PATCH", of("eves"), labelled({ "headwater.dev/owner": "u_x" }))).toContain(ownerLabel);
          expect(await requestBy(kube, "eve", "PATCH", `${webhooks}/hers`, labelled({ "headwater.dev/id": "wh_x" }))).toContain(ownLabels);
          expect(await requestBy(kube, "ann", "PATCH", `${webhooks}/hers`, labelled({ "headwater.dev/id": "wh_x" }))).toBe("allowed");
        },
        { timeout: 60_000, interval: 100 },
      );
    });

    it.each(cases.map(([what, user, method, path, body, refusal]) => ({ what, user, method, path, body, refusal })))(
      "$user $what: $refusal",
      async ({ user, method, path, body, refusal }) => {
        expect(await requestBy(kube, user, method, path, body)).toContain(refusal ?? "allowed");
      },
    );
  });
}
