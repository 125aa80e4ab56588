import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "undici";
import { z } from "zod";
import { connectKubernetes, pathOf, type Kubernetes } from "../../platform/kubernetes/access/connection.ts";
import { freePort } from "../../platform/process/free-port.ts";

/** The installation in the cluster that KUBECONFIG names, in the namespace `headwater`. */
export interface ClusterInstallation extends AsyncDisposable {
  readonly kubernetes: Kubernetes;
  /** Applies a resource of the default owner, which is deleted at the end. */
  apply(kind: string, plural: string, name: string, spec: object): Promise<void>;
  statusOf(plural: string, name: string): Promise<ResourceStatus>;
  untilReady(plural: string, name: string): Promise<void>;
  /** Posts to an endpoint through `kubectl port-forward`. @returns the status code */
  post(endpointKey: string): Promise<number>;
}

const found = z.object({
  status: z
    .object({ endpointKey: z.string().optional(), conditions: z.array(z.object({ type: z.string(), status: z.string() })).optional() })
    .optional(),
});
type ResourceStatus = z.infer<typeof found>["status"];

const namespace = "headwater-default";
const readyWithinMs = 60_000;
/** Sources first: they use the components. */
const plurals = ["sources", "components"];
const ownersPath = (plural: string, ...name: readonly string[]): string =>
  pathOf(["apis", "headwater.dev", "v1alpha1", "namespaces", namespace, plural, ...name]);

export async function openClusterInstallation(): Promise<ClusterInstallation> {
  const opened = new AsyncDisposableStack();
  const kubernetes = opened.adopt(await connectKubernetes({ userAgent: "headwater bench" }), (each) => each.close());
  const port = await forwardIngress(opened);
  opened.defer(async () => {
    for (const plural of plurals)
      await kubernetes.request({ method: "DELETE", path: ownersPath(plural), query: { labelSelector: "bench=headwater" } });
  });
  const statusOf = async (plural: string, name: string): Promise<ResourceStatus> =>
    found.parse(await kubernetes.request({ method: "GET", path: ownersPath(plural, name) })).status;
  return {
    kubernetes,
    statusOf,
    apply: async (kind, plural, name, spec) => {
      const metadata = { name, namespace, labels: { bench: "headwater" } };
      await kubernetes.request({
        method: "PATCH",
        path: ownersPath(plural, name),
        query: { fieldManager: "bench", force: true },
        contentType: "application/apply-patch+yaml",
        body: { apiVersion: "headwater.dev/v1alpha1", kind, metadata, spec },
      });
    },
    untilReady: async (plural, name) => {
      const deadline = performance.now() + readyWithinMs;
      for (;;) {
        const status = await statusOf(plural, name);
        if (status?.conditions?.some(({ type, status: holds }) => type === "Ready" && holds === "True") === true) return;
        if (performance.now() > deadline) throw new Error(`${name} is not ready within a minute: ${JSON.stringify(status)}`);
        await pause(10);
      }
    },
    post: async (endpointKey) => {
      const { statusCode, body } = await request(`http://127.0.0.1:${port}/${endpointKey}`, { method: "POST", body: "{}" });
      await body.dump();
      return statusCode;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** @returns the local port */
async function forwardIngress(opened: AsyncDisposableStack): Promise<number> {
  const port = await freePort();
  const forward = spawn("kubectl", ["-n", "headwater", "port-forward", "service/headwater-ingress", `${port}:80`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  opened.defer(async () => {
    forward.kill("SIGTERM");
    if (forward.exitCode === null && forward.signalCode === null) await once(forward, "exit");
  });
  await once(forward.stdout, "data");
  return port;
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
