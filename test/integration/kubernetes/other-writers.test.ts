import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { labels, type Kind } from "../../../crds/resource.ts";
import { subscriptionKind } from "../../../crds/subscription.ts";
import { createKubernetesResourceStore } from "../../../platform/kubernetes/resources/resource-store.ts";
import { KubeApiClient } from "../../support/kube/kube-api-client.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { whenever, withKubernetes } from "./support.ts";

const directory = await temporaryDirectory("cluster-audit");
afterAll(() => directory.remove());
const [policy, auditLog] = [join(directory.path, "policy.yaml"), join(directory.path, "audit.log")];
const operations = await readFile(join(import.meta.dirname, "../../../docs/operations.md"), "utf8");
await writeFile(policy, /```yaml\n(apiVersion: audit\.k8s\.io[^`]*)```/.exec(operations)?.[1] ?? "");
const kube = await withKubeApi({
  own: true,
  crds: false,
  flags: [`--audit-policy-file=${policy}`, `--audit-log-path=${auditLog}`],
});
const kubernetes = withKubernetes(kube);
const spec = { emitter: "dc_a", listener: "wh_a", channel: "" };
const base = "/apis/headwater.dev/v1alpha1";
const at = (namespace: string, name: string): string => `${base}/namespaces/${namespace}/subscriptions/${name}`;

/** The definition as a later or an earlier Headwater might have it: it accepts all fields. */
const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "subscriptions.headwater.dev" },
  spec: {
    group: "headwater.dev",
    scope: "Namespaced",
    names: { kind: "Subscription", plural: "subscriptions", singular: "subscription", listKind: "SubscriptionList" },
    versions: [
      {
        name: "v1alpha1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

beforeAll(async () => {
  if (kube.missing !== undefined) return;
  await kube.client.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  await whenever(async () => (await kube.client.request("GET", `${base}/subscriptions`)).status === 200, "the definition is served");
});

const object = (name: string, more: object = {}): object => ({
  apiVersion: "headwater.dev/v1alpha1",
  kind: "Subscription",
  metadata: { name },
  spec,
  ...more,
});

kube.describe("beside other writers", () => {
  test("keeps fields of other writers, known or not", async () => {
    const store = createKubernetesResourceStore(kubernetes());
    const namespace = await kube.namespace();
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}", "other.example/note": "theirs" };
    const metadata = { name: "a", labels: { "other.example/team": "red" }, annotations, finalizers: ["other.example/hold"] };
    await kube.client.create(
      `${base}/namespaces/${namespace}/subscriptions`,
      object("a", { metadata, spec: { ...spec, later: { field: [1] } } }),
    );
    const read = await store.get(subscriptionKind, namespace, "a");
    expect(read.metadata.annotations).toEqual({ "other.example/note": "theirs" });
    const ours = {
      ...read.metadata,
      labels: { ...read.metadata.labels, [labels.id]: "sub_1" },
      finalizers: [...read.metadata.finalizers, "headwater.dev/cleanup"],
    };
    const changed = await store.update(subscriptionKind, { ...read, metadata: ours, spec: { ...read.spec, channel: "c" } });
    await store.updateStatus(subscriptionKind, { ...changed, status: { id: "sub_1" } });
    const { body } = await kube.client.request("GET", at(namespace, "a"));
    expect(body).toMatchObject({
      metadata: {
        annotations,
        labels: { "other.example/team": "red", [labels.id]: "sub_1" },
        finalizers: ["other.example/hold", "headwater.dev/cleanup"],
      },
      spec: { emitter: "dc_a", channel: "c", later: { field: [1] } },
      status: { id: "sub_1" },
    });
  });

  test("returns a conflict for a concurrent change of any part, and loses nothing of it", async () => {
    const store = createKubernetesResourceStore(kubernetes());
    const namespace = await kube.namespace();
    const patches = [
      { spec: { channel: "theirs" } },
      { metadata: { labels: { team: "red" } } },
      { metadata: { finalizers: ["other.example/hold"] } },
    ];
    for (const [n, patch] of patches.entries()) {
      const created = await store.create(subscriptionKind, { name: `s-${n}`, namespace, spec });
      await kube.client.request("PATCH", at(namespace, `s-${n}`), patch, { "content-type": "application/merge-patch+json" });
      await expect(store.update(subscriptionKind, { ...created, spec: { ...spec, channel: "ours" } })).rejects.toMatchObject({
        code: "conflict",
      });
      await expect(store.updateStatus(subscriptionKind, { ...created, status: { id: "x" } })).rejects.toMatchObject({ code: "conflict" });
      expect((await kube.client.request("GET", at(namespace, `s-${n}`))).body).toMatchObject(patch);
    }
  });

  test("lists an object that violates its schema with the reason, beside the others, and deletes it", async () => {
    const store = createKubernetesResourceStore(kubernetes());
    const namespace = await kube.namespace();
    const path = `${base}/namespaces/${namespace}/subscriptions`;
    const finalizers = ["headwater.dev/cleanup"];
    await kube.client.create(path, object("good"));
    await kube.client.create(path, object("odd", { metadata: { name: "odd", finalizers }, spec: { emitter: 7 } }));
    await kube.client.create(path, object("none", { spec: undefined }));
    await kube.client.request(
      "PATCH",
      `${at(namespace, "good")}/status`,
      { status: { id: "sub_1", observedGeneration: "one", conditions: "none" } },
      { "content-type": "application/merge-patch+json" },
    );
    const { items } = await store.list(subscriptionKind, { namespace });
    expect(items.map(({ metadata, invalid }) => [metadata.name, invalid !== undefined])).toEqual([
      ["good", false],
      ["none", true],
      ["odd", true],
    ]);
    expect(items[0]?.status).toEqual({ id: "sub_1" });
    const odd = await store.get(subscriptionKind, namespace, "odd");
    expect(odd).toMatchObject({ spec: { emitter: 7 }, invalid: expect.stringContaining("spec.emitter") });
    await store.updateStatus(subscriptionKind, { ...odd, status: { id: "sub_2" } });
    await store.delete(subscriptionKind, namespace, "odd");
    const ending = await store.get(subscriptionKind, namespace, "odd");
    await store.update(subscriptionKind, { ...ending, metadata: { ...ending.metadata, finalizers: [] } });
    expect(await store.find(subscriptionKind, namespace, "odd")).toBeUndefined();
  });

  test("finds no resource by an id that no label can have", async () => {
    const store = createKubernetesResourceStore(kubernetes());
    const namespace = await kube.namespace();
    await store.create(subscriptionKind, { name: "first", namespace, spec, labels: { [labels.id]: "sub_first" } });
    expect((await store.findById(subscriptionKind, "sub_first"))?.metadata.name).toBe("first");
    expect(await store.findById(subscriptionKind, "sub_first,team=red")).toBeUndefined();
    expect(await store.findById(subscriptionKind, "")).toBeUndefined();
  });

  test("refuses names that would change the request path", async () => {
    const store = createKubernetesResourceStore(kubernetes());
    const namespace = await kube.namespace();
    for (const name of ["../../../../api/v1/namespaces", "a?watch=true", "a#b"]) {
      expect(await store.find(subscriptionKind, namespace, name)).toBeUndefined();
    }
    await expect(store.list(subscriptionKind, { namespace, labels: { "a,b": "c" } })).rejects.toMatchObject({ status: 422 });
    await expect(store.list(subscriptionKind, { namespace, labels: { a: "c,d!=e" } })).rejects.toMatchObject({ status: 422 });
  });

  test("throws Unavailable for a kind whose definition is not installed", async () => {
    const store = createKubernetesResourceStore(kubernetes());
    const missing: Kind = { ...subscriptionKind, kind: "Nothing", plural: "nothings" } as Kind; // Kinds differ in their types alone.
    await expect(store.find(missing, await kube.namespace(), "a")).rejects.toMatchObject({ status: 503, code: "kubernetes_kind_missing" });
  });

  test("the API server's audit log names who changed a resource, by the policy of docs/operations.md", async () => {
    const namespace = await kube.namespace();
    const headwater = await clientOfHeadwater();
    const jane = { "impersonate-user": "jane", "impersonate-group": "system:masters" };
    const label = (value: string) => ({ metadata: { labels: { value } } });
    const patch = { "content-type": "application/merge-patch+json" };
    await headwater.create(`${base}/namespaces/${namespace}/subscriptions`, object("audited"));
    await kube.client.request("PATCH", `${at(namespace, "audited")}?fieldManager=kubectl-patch`, label("secret"), { ...jane, ...patch });
    await headwater.request("PATCH", at(namespace, "audited"), label("other"), patch);
    await kube.client.request("GET", at(namespace, "audited"), undefined, jane);
    await kube.client.request("DELETE", at(namespace, "audited"), undefined, jane);
    const lines = async () =>
      (await readFile(auditLog, "utf8"))
        .split("\n")
        .slice(0, -1)
        .filter((line) => line.includes('"audited"'));
    await whenever(async () => (await lines()).length >= 2, "the deletion is logged");
    const events = (await lines()).map((line) => auditEvent.parse(JSON.parse(line)));
    expect(events.map(({ verb, impersonatedUser }) => [verb, impersonatedUser.username])).toEqual([
      ["patch", "jane"],
      ["delete", "jane"],
    ]);
    expect(events[0]?.requestURI).toContain("fieldManager=kubectl-patch");
    expect((await lines()).join()).not.toContain("secret");
  });
});

const auditEvent = z.object({ verb: z.string(), requestURI: z.string(), impersonatedUser: z.object({ username: z.string() }) });

/** As a ServiceAccount in the namespace of the release. */
async function clientOfHeadwater(): Promise<KubeApiClient> {
  await kube.client.create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "headwater" } });
  const accounts = "/api/v1/namespaces/headwater/serviceaccounts";
  await kube.client.create(accounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "headwater-api" } });
  await kube.client.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "headwater-api" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", name: "headwater-api", namespace: "headwater" }],
  });
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata: { name: "" }, spec: {} };
  const { body } = await kube.client.request("POST", `${accounts}/headwater-api/token`, request);
  const { token } = z.object({ status: z.object({ token: z.string() }) }).parse(body).status;
  const client = new KubeApiClient({ ...kube.access, token });
  onTestFinished(() => client.close());
  return client;
}
