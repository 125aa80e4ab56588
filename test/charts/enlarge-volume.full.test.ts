import { execFile } from "node:child_process";
import { delimiter, dirname } from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { blocksOf } from "../e2e/support/documented-session.ts";
import { findProgram, helm, type Ran } from "../support/helm.ts";
import { withKubeApi } from "../support/kube/kube-api.ts";

/**
 * The commands of docs/operations.md that enlarge the volumes of NATS, on a real API server with the chart's policies. No controllers run,
 * so the test creates the claims, does the work of the garbage collector, and leaves out hooks and waiting.
 */
const kube = await withKubeApi({ own: true, crds: false });
const kubectl = findProgram("kubectl");
const isPossible = kube.missing === undefined && kubectl !== undefined && findProgram("helm") !== undefined;
const suite = isPossible ? describe : describe.skip;
const why = isPossible ? "" : ` (skipped: ${kube.missing ?? "helm or kubectl was not found"})`;

const commands = blocksOf("docs/operations.md").find(({ text }) => text.includes("--cascade=orphan"))?.text ?? "";
const servers = [0, 1, 2];
const environment = (): Record<string, string> => ({ KUBECONFIG: kube.kubeconfigPath });
const upgrade = ["upgrade", "headwater", "charts/headwater", "--namespace", "headwater", "--reset-then-reuse-values", "--no-hooks"];

const claim = (server: number) => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: `data-headwater-nats-${server}`, namespace: "headwater" },
  spec: {
    accessModes: ["ReadWriteOnce"],
    storageClassName: "growing",
    volumeName: `volume-${server}`,
    resources: { requests: { storage: "10Gi" } },
  },
});
const storageClass = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "growing" },
  provisioner: "example.com/none",
  allowVolumeExpansion: true,
};

async function apply(object: object, ...flags: readonly string[]): Promise<void> {
  const { code, stderr } = await kube.kubectl(["apply", "--server-side", ...flags, "-f", "-"], JSON.stringify(object));
  expect(code, stderr).toBe(0);
}

/** Runs the commands of the page, without hooks and waiting. */
function runCommands(): Promise<Ran> {
  const script = commands.replaceAll("--wait", "--no-hooks");
  const env = { ...process.env, ...environment(), PATH: [dirname(kubectl ?? ""), process.env["PATH"]].join(delimiter) };
  return new Promise((resolve) => {
    execFile("bash", ["-euo", "pipefail", "-c", script], { env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, stdout, stderr }),
    );
  });
}

const readStatefulSet = async (field: string): Promise<string> =>
  (await kube.kubectl(["-n", "headwater", "get", "statefulset", "headwater-nats", "--output", `jsonpath={${field}}`])).stdout;

/** Removes the finalizer of the deleted StatefulSet, as the garbage collector does once it has released the pods. */
async function collectGarbage(): Promise<void> {
  await vi.waitUntil(async () => (await readStatefulSet(".metadata.deletionTimestamp")) !== "", { timeout: 60_000, interval: 100 });
  const finalizers = z.array(z.string()).parse(JSON.parse(await readStatefulSet(".metadata.finalizers")));
  expect(finalizers).toEqual(["orphan"]);
  await kube.kubectl(["-n", "headwater", "patch", "statefulset", "headwater-nats", "-p", '{"metadata": {"finalizers": null}}']);
}

suite(`the volumes of NATS${why}`, () => {
  beforeAll(async () => {
    const flags = ["--namespace", "headwater", "--create-namespace", "--no-hooks", "--set", "nats.replicas=3"];
    const { code, stderr } = await helm(["install", "headwater", "charts/headwater", ...flags], environment());
    expect(code, stderr).toBe(0);
    await apply(storageClass);
    for (const server of servers) {
      await apply(claim(server));
      await apply({ ...claim(server), status: { phase: "Bound", capacity: { storage: "10Gi" } } }, "--subresource=status");
    }
  });

  it("cannot be enlarged by an upgrade alone", async () => {
    const { code, stderr } = await helm([...upgrade, "--set", "nats.persistence.size=20Gi,nats.storeSize=16Gi"], environment());
    expect([code, stderr]).toEqual([1, expect.stringContaining("updates to statefulset spec for fields other than")]);
  });

  it("are enlarged by the commands of docs/operations.md", async () => {
    const [ran] = await Promise.all([runCommands(), collectGarbage()]);
    expect(ran.code, ran.stderr).toBe(0);
    expect(await readStatefulSet(".spec.volumeClaimTemplates[0].spec.resources.requests.storage")).toBe("20Gi");
    expect(await readStatefulSet(".spec.replicas")).toBe("3");
    const claims = await kube.kubectl([
      "-n",
      "headwater",
      "get",
      "pvc",
      "--output",
      "jsonpath={.items[*].spec.resources.requests.storage}",
    ]);
    expect(claims.stdout).toBe("20Gi 20Gi 20Gi");
    const { stdout } = await kube.kubectl(["-n", "headwater", "get", "configmap", "headwater-nats", "--output", "yaml"]);
    expect(stdout).toContain("max_file_store: 16Gi");
  });
});
