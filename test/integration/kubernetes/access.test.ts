import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import type { ClusterAccess } from "../../../platform/kubernetes/access/access.ts";
import { connectKubernetes, type Kubernetes } from "../../../platform/kubernetes/access/connection.ts";
import { readKubeconfig } from "../../../platform/kubernetes/access/kubeconfig.ts";
import { startKubernetesOwnerNamespaces } from "../../../platform/kubernetes/owners/owner-namespaces.ts";
import { startOwnerRights } from "../../../platform/kubernetes/owners/owner-rights.ts";
import { createKubernetesSecretValues } from "../../../platform/kubernetes/secret-values.ts";
import { findServiceAccount } from "../../../platform/kubernetes/access/service-account.ts";
import { certificate, privateKey } from "../../sandbox/net/certificate.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";
import { rulesOf } from "../../support/rights/kubernetes.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { newOwner } from "./support.ts";

const directory = await temporaryDirectory("kubernetes-access");
const at = (...parts: string[]): string => join(directory.path, ...parts);
await writeFile(at("client-ca.crt"), certificate);
const kube = await withKubeApi({ own: true, crds: false, flags: [`--client-ca-file=${at("client-ca.crt")}`] });
const open: Kubernetes[] = [];
afterAll(async () => {
  await Promise.all(open.map((each) => each.close()));
  await directory.remove();
});

async function connect(access: ClusterAccess): Promise<Kubernetes> {
  const kubernetes = await connectKubernetes({ access });
  open.push(kubernetes);
  return kubernetes;
}

const review = z.object({ status: z.object({ userInfo: z.object({ username: z.string() }) }) });
async function whoAmI(kubernetes: Kubernetes): Promise<string> {
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const answer = await kubernetes.request({ method: "POST", path: "/apis/authentication.k8s.io/v1/selfsubjectreviews", body });
  return review.parse(answer).status.userInfo.username;
}

async function kubeconfigFor(name: string, user: object): Promise<string> {
  const cluster = { server: kube.access.url, "certificate-authority-data": Buffer.from(kube.access.ca).toString("base64") };
  const config = {
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  await writeFile(at(name), JSON.stringify(config));
  return at(name);
}

const namespace = "hw-system";
const mounted = "var/run/secrets/kubernetes.io/serviceaccount";
const token = z.object({ status: z.object({ token: z.string() }) });

/** As the kubelet mounts it into a pod. */
async function mountServiceAccount(name: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const { body } = await kube.client.request("POST", path, { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} });
  await mkdir(at(name, mounted), { recursive: true });
  await writeFile(at(name, mounted, "token"), token.parse(body).status.token);
  await writeFile(at(name, mounted, "ca.crt"), kube.access.ca);
  await writeFile(at(name, mounted, "namespace"), namespace);
  return at(name);
}

async function serviceAccount(root: string): Promise<ClusterAccess> {
  const { hostname, port } = new URL(kube.access.url);
  vi.stubEnv("KUBERNETES_SERVICE_HOST", hostname);
  vi.stubEnv("KUBERNETES_SERVICE_PORT", port);
  const access = await findServiceAccount(root).finally(() => vi.unstubAllEnvs());
  if (access === undefined) throw new Error("the service account was mounted");
  return access;
}

const rbac = "rbac.authorization.k8s.io";
const apiRole = "headwater-owner-secrets-api";

beforeAll(async () => {
  if (kube.missing !== undefined) return;
  const base = `/apis/${rbac}/v1`;
  await kube.client.create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  for (const role of ["api", "operator", "owner-secrets", "owner-secrets-api"])
    await kube.client.create(`${base}/clusterroles`, {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRole",
      metadata: { name: `headwater-${role}` },
      rules: rulesOf(role, "everywhere"),
    });
  for (const name of ["headwater-api", "headwater-operator"]) {
    await kube.client.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name },
    });
    await kube.client.create(`${base}/clusterrolebindings`, {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    });
  }
});

kube.describe("access to a real API server", () => {
  test("by a client certificate", async () => {
    const data = (pem: string): string => Buffer.from(pem).toString("base64");
    const user = { "client-certificate-data": data(certificate), "client-key-data": data(privateKey) };
    expect(await whoAmI(await connect(await readKubeconfig(await kubeconfigFor("by-certificate", user))))).toBe("localhost");
  });

  test("by a credential plugin that gives a certificate", async () => {
    const credential = { kind: "ExecCredential", status: { clientCertificateData: certificate, clientKeyData: privateKey } };
    await writeFile(at("credential.json"), JSON.stringify(credential));
    await writeFile(at("plugin.sh"), `#!/bin/sh\ncat '${at("credential.json")}'\n`);
    await chmod(at("plugin.sh"), 0o755);
    const access = await readKubeconfig(await kubeconfigFor("by-exec", { exec: { command: "./plugin.sh" } }));
    expect(await whoAmI(await connect(access))).toBe("localhost");
  });

  test("by the service account of a pod, whose token may be replaced at any time", async () => {
    const root = await mountServiceAccount("headwater-api");
    const access = await serviceAccount(root);
    await writeFile(at("headwater-api", mounted, "token"), "expired");
    const kubernetes = await connect(access);
    await expect(whoAmI(kubernetes)).rejects.toMatchObject({ code: "kubernetes_unauthenticated" });
    await mountServiceAccount("headwater-api");
    expect(await whoAmI(kubernetes)).toBe(`system:serviceaccount:${namespace}:headwater-api`);
    expect(kubernetes.namespace).toBe(namespace);
  });

  test("lets the API create a namespace and store secrets in it, and only the operator read them, once it has bound the roles", async () => {
    const [asApi, asOperator] = [await mountServiceAccount("headwater-api"), await mountServiceAccount("headwater-operator")];
    const api = await connect(await serviceAccount(asApi));
    const operator = await connect(await serviceAccount(asOperator));
    const owners = startKubernetesOwnerNamespaces(api);
    const own = await owners.ensure(newOwner());
    const holder = { kind: "Source", namespace: own, name: "dc-1" };
    const hasty = createKubernetesSecretValues(api, { rightsTimeoutMs: 0 });
    await expect(hasty.keep(holder, { token: "secret-text" })).rejects.toMatchObject({
      code: "kubernetes_forbidden",
      message: expect.not.stringContaining("secret-text"),
    });
    const keeping = createKubernetesSecretValues(api).keep(holder, { token: "secret" });
    const seen = startKubernetesOwnerNamespaces(operator);
    const bindings = {
      "headwater-operator": { namespace, name: "headwater-operator", clusterRole: "headwater-owner-secrets" },
      [apiRole]: { namespace, name: "headwater-api", clusterRole: apiRole },
    };
    const rights = startOwnerRights(operator, seen, { bindings });
    const { token: reference = {} } = await keeping;
    await expect(hasty.read(holder, reference)).rejects.toMatchObject({ code: "kubernetes_forbidden" });
    const values = createKubernetesSecretValues(operator);
    expect(await values.read(holder, reference)).toBe("secret");
    await values.settle({ ...holder, uid: "1234", generation: 1 }, [reference]);
    await values.settle({ ...holder, uid: "1234", generation: 2 }, []);
    await expect(values.read(holder, reference)).rejects.toMatchObject({ status: 404 });
    // And in no other namespace.
    const hastyOperator = createKubernetesSecretValues(operator, { rightsTimeoutMs: 0 });
    await expect(hastyOperator.read({ ...holder, namespace: "kube-system" }, reference)).rejects.toMatchObject({
      code: "kubernetes_forbidden",
    });
    await rights.stop();
    await Promise.all([owners.close(), seen.close()]);
  });
});
