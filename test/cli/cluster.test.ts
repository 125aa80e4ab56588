import { dirname } from "node:path";
import { beforeAll, expect, it, vi } from "vitest";
import { findInstallation } from "../../cli/profile/cluster.ts";
import { findProgram, render } from "../support/helm.ts";
import { withKubeApi } from "../support/kube/kube-api.ts";

/** What `hw` takes for the installation, in a cluster in which a tenant imitates one. */
const kube = await withKubeApi({ own: true, crds: false });
const canRun = kube.missing === undefined && kube.hasKubectl && findProgram("helm") !== undefined;
const within = { timeout: 60_000, interval: 100 };

const env = (more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  KUBECONFIG: kube.kubeconfigPath,
  HOME: dirname(kube.kubeconfigPath), // kubectl keeps a cache there.
  ...more,
});

/** A Secret with the name of the installation's, and a Service with its name and labels. */
async function imitate(namespace: string, key: string): Promise<void> {
  await kube.client.create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  await storeKey(namespace, key);
  const labels = { "app.kubernetes.io/name": "headwater", "app.kubernetes.io/component": "api" };
  await kube.client.create(`/api/v1/namespaces/${namespace}/services`, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "headwater-api", namespace, labels },
    spec: { ports: [{ port: 3000 }] },
  });
}

const storeKey = (namespace: string, key: string): Promise<unknown> =>
  kube.client.create(`/api/v1/namespaces/${namespace}/secrets`, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "headwater-api-key", namespace },
    stringData: { "api-key": key },
  });

kube.describe("the cluster of kubectl's current context", () => {
  beforeAll(async () => {
    if (!canRun) return;
    await imitate("a-tenant", "hw_of_the_tenant");
  });

  it.skipIf(!canRun)("has no installation without the definitions, whatever a tenant creates", async () => {
    expect(await findInstallation(env())).toBeUndefined();
  });

  it.skipIf(!canRun)("has that of the chart, in the namespace of the definitions' annotation", async () => {
    await kube.client.create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "headwater" } });
    await storeKey("headwater", "hw_of_the_installation");
    const text = await render();
    const applied = await vi.waitFor(async () => {
      const result = await kube.kubectl(["apply", "--server-side", "-f", "-"], text);
      expect(result.code, result.stderr).toBe(0);
      return result;
    }, within);
    expect(applied.code).toBe(0);
    expect(await findInstallation(env())).toEqual({
      namespace: "headwater",
      service: "headwater-api",
      port: 80,
      apiKey: "hw_of_the_installation",
    });
  });

  it.skipIf(!canRun)("is reached by the Service of the admin API where there is one", async () => {
    const text = await render("--set", "api.adminApi=true", "--show-only", "templates/api.yaml");
    expect((await kube.kubectl(["apply", "--server-side", "-f", "-"], text)).code).toBe(0);
    expect(await findInstallation(env())).toMatchObject({ service: "headwater-admin", port: 80 });
  });

  it.skipIf(!canRun)("is asked only in the namespace that HEADWATER_NAMESPACE names", async () => {
    expect(await findInstallation(env({ HEADWATER_NAMESPACE: "headwater" }))).toMatchObject({ apiKey: "hw_of_the_installation" });
    await expect(findInstallation(env({ HEADWATER_NAMESPACE: "default" }))).rejects.toThrow(
      "namespace default has no Service of Headwater's API",
    );
  });
});
