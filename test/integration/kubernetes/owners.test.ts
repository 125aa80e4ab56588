import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import type { HeadwaterError } from "../../../domain/errors.ts";
import { startKubernetesOwnerNamespaces, type KubernetesOwnerNamespaces } from "../../../platform/kubernetes/owners/owner-namespaces.ts";
import { startOwnerRights } from "../../../platform/kubernetes/owners/owner-rights.ts";
import { ownerNamespacesConformance } from "../../conformance/owner-namespaces.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";
import { newOwner, throughProxy, whenever, withKubernetes } from "./support.ts";

const kube = await withKubeApi();
const kubernetes = withKubernetes(kube);
const open: KubernetesOwnerNamespaces[] = [];
afterAll(() => Promise.all(open.map((each) => each.close())));

function start(): KubernetesOwnerNamespaces {
  const owners = startKubernetesOwnerNamespaces(kubernetes());
  open.push(owners);
  return owners;
}

const label = "headwater.dev/owner";
const patchLabels = (name: string, labels: Record<string, string | null>) =>
  kube.client.request("PATCH", `/api/v1/namespaces/${name}`, { metadata: { labels } }, { "content-type": "application/merge-patch+json" });

kube.describe("owners' namespaces on Kubernetes", () => {
  ownerNamespacesConformance(async () => ({ owners: start(), others: start(), owner: newOwner() }));

  test("creates a namespace named after its owner, with the restricted profile", async () => {
    const [owners, owner] = [start(), newOwner()];
    const name = await owners.ensure(owner);
    expect(name).toBe(namespaceOfOwner(owner));
    const { body } = await kube.client.request("GET", `/api/v1/namespaces/${name}`);
    expect(body).toMatchObject({
      metadata: {
        labels: { [label]: owner, "app.kubernetes.io/managed-by": "headwater", "pod-security.kubernetes.io/enforce": "restricted" },
      },
    });
  });

  test("finds a namespace labelled by hand, whatever its name, even before the watch reports it", async () => {
    const [owners, owner] = [start(), newOwner()];
    expect(await owners.find(owner)).toBeUndefined();
    const name = await kube.namespace({ [label]: owner });
    expect(await owners.ensure(owner)).toBe(name);
    expect(await owners.ownerOf(name)).toBe(owner);
  });

  test("uses the older of two namespaces of an owner, and the newer once that is deleted or in deletion", async () => {
    const [owners, owner] = [start(), newOwner()];
    const changes: string[] = [];
    const first = await kube.namespace({ [label]: owner });
    await whenever(async () => (await owners.ownerOf(first)) === owner, "the first is reported");
    const created = Date.now();
    await whenever(() => Date.now() - created > 1_100, "times of creation are whole seconds");
    const second = await kube.namespace({ [label]: owner });
    const end = owners.onChange((namespace) => changes.push(namespace));
    expect(await owners.find(owner)).toBe(first);
    expect(await owners.ownerOf(second)).toBeUndefined();
    await kube.client.request("DELETE", `/api/v1/namespaces/${first}`);
    await whenever(() => changes.includes(second), "the younger counts now");
    expect(await owners.find(owner)).toBe(second);
    // Its resources are still deleted in the owner's name.
    expect(await owners.ownerOf(first)).toBe(owner);
    end();
  });

  test("notifies of the namespaces that a label change concerns", async () => {
    const [owners, owner, next] = [start(), newOwner(), newOwner()];
    const name = await owners.ensure(owner);
    const changes: string[] = [];
    owners.onChange((namespace) => changes.push(namespace));
    await patchLabels(name, { [label]: null });
    await whenever(() => changes.length === 1, "the removed label is reported");
    expect(await owners.ownerOf(name)).toBeUndefined();
    await expect(owners.ensure(owner)).rejects.toMatchObject({ status: 409, message: expect.stringContaining("label it") });
    await patchLabels(name, { [label]: next });
    await whenever(() => changes.length === 2, "the new label is reported");
    expect(await owners.ownerOf(name)).toBe(next);
    await patchLabels(name, { [label]: "nonsense" });
    await whenever(() => changes.length === 3, "a label without an owner is reported");
    expect(await owners.ownerOf(name)).toBeUndefined();
    expect(new Set(changes)).toEqual(new Set([name]));
  });

  test("does not use a namespace in deletion for new resources", async () => {
    const [owners, owner] = [start(), newOwner()];
    const name = await owners.ensure(owner);
    await kube.client.request("DELETE", `/api/v1/namespaces/${name}`);
    const again = start();
    await expect(again.ensure(owner)).rejects.toMatchObject({ status: 503, code: "namespace_ends" });
  });

  test("keeps answering while the API server is away, and reports changes made in the meantime", async () => {
    const [owner, late] = [newOwner(), newOwner()];
    const proxied = await throughProxy(kube);
    const owners = startKubernetesOwnerNamespaces(proxied.kubernetes);
    const name = await owners.ensure(owner);
    await proxied.leave();
    expect(await owners.ownerOf(name)).toBe(owner);
    const made = await kube.namespace({ [label]: late });
    await proxied.arrive();
    await whenever(async () => (await owners.find(late)) === made, "the watch continues");
    await owners.close();
    await proxied.end();
  });
});

kube.describe("rights in owners' namespaces", () => {
  const bindings = {
    "headwater-operator": { namespace: "hw-system", name: "headwater-operator", clusterRole: "headwater-owner-secrets" },
    "headwater-api": { namespace: "hw-system", name: "headwater-api", clusterRole: "headwater-owner-secrets" },
  };
  const path = (namespace: string, name = ""): string => `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings/${name}`;
  const isBound = async (namespace: string, name: string): Promise<boolean> => {
    const { status, body } = await kube.client.request("GET", path(namespace, name));
    if (status !== 200) return false;
    expect(body).toMatchObject({ roleRef: { kind: "ClusterRole", name: "headwater-owner-secrets" } });
    return JSON.stringify(body).includes(`"name":"${name}","namespace":"hw-system"`);
  };

  const takeName = (namespace: string, name: string, { role = "view", labels = {} } = {}) =>
    kube.client.create(path(namespace).slice(0, -1), {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { name, namespace, labels },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
    });

  test("binds the role in each owner's namespace, and again after the binding was deleted or changed", async () => {
    const [owners, owner] = [start(), newOwner()];
    const before = await kube.namespace({ [label]: owner });
    const unlabelled = await kube.namespace();
    const rights = startOwnerRights(kubernetes(), owners, { bindings });
    for (const name of Object.keys(bindings)) await whenever(() => isBound(before, name), `${name} is bound`);
    const after = await owners.ensure(newOwner());
    await whenever(() => isBound(after, "headwater-api"), "a namespace made later is bound too");

    await kube.client.request("DELETE", path(after, "headwater-api"));
    await whenever(() => isBound(after, "headwater-api"), "a deleted one is made again");
    const patch = { subjects: [{ kind: "ServiceAccount", name: "intruder", namespace: "default" }] };
    await kube.client.request("PATCH", path(after, "headwater-operator"), patch, { "content-type": "application/merge-patch+json" });
    await whenever(() => isBound(after, "headwater-operator"), "a changed one is put right");
    expect((await kube.client.request("GET", path(unlabelled, "headwater-api"))).status).toBe(404);
    await rights.stop();
  });

  describe("RoleBindings of earlier releases", () => {
    const managed = { "app.kubernetes.io/managed-by": "headwater" };
    const current = {
      "headwater-operator": bindings["headwater-operator"],
      "headwater-owner-secrets-api": { namespace: "hw-system", name: "headwater-api", clusterRole: "headwater-owner-secrets-api" },
    };
    const former = { "headwater-api": "headwater-owner-secrets" };
    const roleOf = async (namespace: string, name: string): Promise<string | undefined> => {
      const { status, body } = await kube.client.request("GET", path(namespace, name));
      return status === 200 ? z.object({ roleRef: z.object({ name: z.string() }) }).parse(body).roleRef.name : undefined;
    };
    const upgrade = (owners: KubernetesOwnerNamespaces, onError: (error: HeadwaterError) => void = () => undefined) =>
      startOwnerRights(kubernetes(), owners, { bindings: current, former, onError });

    test("are replaced: the new one is created first, then the former one is deleted", async () => {
      const owners = start();
      const namespace = await kube.namespace({ [label]: newOwner() });
      const before = startOwnerRights(kubernetes(), owners, { bindings });
      await whenever(() => isBound(namespace, "headwater-api"), "the earlier release has bound the API");
      await before.stop();
      const rights = upgrade(owners);
      await whenever(async () => (await roleOf(namespace, "headwater-api")) === undefined, "the former one is deleted");
      expect(await roleOf(namespace, "headwater-owner-secrets-api")).toBe("headwater-owner-secrets-api");
      expect(await roleOf(namespace, "headwater-operator")).toBe("headwater-owner-secrets");
      await rights.stop();
      // After a rollback the earlier release needs it again.
      const after = startOwnerRights(kubernetes(), owners, { bindings });
      await whenever(() => isBound(namespace, "headwater-api"), "the earlier release binds the API again");
      await after.stop();
    });

    test("stay while the new one cannot be created, or when they give another role", async () => {
      const owners = start();
      const [blocked, foreign] = [await kube.namespace({ [label]: newOwner() }), await kube.namespace({ [label]: newOwner() })];
      await takeName(blocked, "headwater-owner-secrets-api");
      await takeName(blocked, "headwater-api", { role: "headwater-owner-secrets", labels: managed });
      await takeName(foreign, "headwater-api", { labels: managed });
      const errors: HeadwaterError[] = [];
      const rights = upgrade(owners, (error) => errors.push(error));
      await whenever(() => errors.some(({ message }) => message.includes(blocked)), "the conflict is reported");
      await whenever(async () => (await roleOf(foreign, "headwater-owner-secrets-api")) !== undefined, "the API is bound");
      expect([await roleOf(blocked, "headwater-api"), await roleOf(foreign, "headwater-api")]).toEqual(["headwater-owner-secrets", "view"]);
      await kube.client.request("DELETE", path(blocked, "headwater-owner-secrets-api"));
      await whenever(async () => (await roleOf(blocked, "headwater-api")) === undefined, "the former one is deleted");
      expect(await roleOf(foreign, "headwater-api")).toBe("view");
      await rights.stop();
    });
  });

  test("reports a foreign binding under our name, and creates the other one", async () => {
    const owners = start();
    const namespace = await kube.namespace({ [label]: newOwner() });
    await takeName(namespace, "headwater-operator");
    const errors: HeadwaterError[] = [];
    const rights = startOwnerRights(kubernetes(), owners, { bindings, onError: (error) => errors.push(error) });
    await whenever(() => isBound(namespace, "headwater-api"), "the other one is bound");
    const reported = await whenever(() => errors.find(({ status }) => status === 409), "the conflict is reported");
    expect(reported.message).toContain("headwater-operator");
    await rights.stop();
  });

  test("reports each taken name once, and creates the binding once the name is free", async () => {
    const owners = start();
    const namespace = await kube.namespace({ [label]: newOwner() });
    const names = Object.keys(bindings);
    for (const name of names) await takeName(namespace, name);
    const reported: string[] = [];
    const onError = ({ message }: HeadwaterError): unknown => message.includes(namespace) && reported.push(message);
    const rights = startOwnerRights(kubernetes(), owners, { bindings, onError });
    await whenever(() => reported.length >= 2, "the conflicts are reported");
    for (const name of names) await kube.client.request("DELETE", path(namespace, name));
    for (const name of names) await whenever(() => isBound(namespace, name), `${name} is bound`);
    expect(reported).toEqual(names.map((name) => expect.stringContaining(`"${name}" already exists; delete that RoleBinding`)));
    await rights.stop();
  });
});
