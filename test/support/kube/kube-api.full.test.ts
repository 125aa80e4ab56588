import { expect, it } from "vitest";
import { withKubeApi } from "./kube-api.ts";

const kube = await withKubeApi({ own: true });

kube.describe("an API server of a test file", () => {
  it("makes namespaces and answers kubectl", async () => {
    const namespace = await kube.namespace({ "headwater.dev/owner": "u_1" });
    const { body } = await kube.client.request("GET", `/api/v1/namespaces/${namespace}`);
    expect(body).toMatchObject({ metadata: { labels: { "headwater.dev/owner": "u_1" } } });
    if (kube.hasKubectl)
      expect((await kube.kubectl(["get", "namespace", namespace, "-o", "name"])).stdout).toBe(`namespace/${namespace}\n`);
  });

  it.each(["stop", "kill"] as const)("has the same address and data after a %s", async (how) => {
    const namespace = await kube.namespace();
    const { url } = kube.access;
    await kube.stopServer(how);
    await expect(kube.client.request("GET", "/readyz")).rejects.toThrow();
    await kube.startServer();
    expect(kube.access.url).toBe(url);
    expect((await kube.client.request("GET", `/api/v1/namespaces/${namespace}`)).status).toBe(200);
  });
});
