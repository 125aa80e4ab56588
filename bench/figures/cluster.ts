import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { request } from "undici";
import { z } from "zod";
import { connectKubernetes, pathOf, type Kubernetes } from "../../platform/kubernetes/access/connection.ts";
import { freePort } from "../../platform/process/free-port.ts";
import type { Figure } from "../figure.ts";
import { percentile } from "../harness/measure/statistics.ts";

/**
 * On the installation in the cluster that KUBECONFIG names, in the namespace `headwater`: from a server-side apply of a Source, whose
 * component is built, to the first 200 of its endpoint, one after the other, through `kubectl port-forward`.
 */
const samples = 40;
const namespace = "headwater-default";
const component = "bench";
const code = `export default { name: "Bench", props: { http: "$.interface.http" }, run() {} };`;
const found = z.object({
  status: z
    .object({ endpointKey: z.string().optional(), conditions: z.array(z.object({ type: z.string(), status: z.string() })).optional() })
    .optional(),
});

export async function run(): Promise<readonly Figure[]> {
  const kubernetes = await connectKubernetes({ userAgent: "headwater bench" });
  const port = await freePort();
  const forward = spawn("kubectl", ["-n", "headwater", "port-forward", "service/headwater-ingress", `${port}:80`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await once(forward.stdout, "data");
    await apply(kubernetes, "Component", "components", component, { code });
    await untilReady(kubernetes, "components", component);
    await deploy(kubernetes, port, `${component}-warm`);
    const times: number[] = [];
    for (let n = 0; n < samples; n++) times.push(await deploy(kubernetes, port, `${component}-${n}`));
    return [
      {
        name: "kubectl apply of a Source (component built) to an answering endpoint, p95",
        value: percentile(times, 0.95),
        unit: "ms",
        goal: { of: "value", atMost: 1_500 },
        note: `${samples} one after the other; p50 ${percentile(times, 0.5).toFixed(0)} ms, most ${percentile(times, 1).toFixed(0)} ms`,
      },
    ];
  } finally {
    await kubernetes.request({ method: "DELETE", path: pathsOf("sources"), query: { labelSelector: "bench=headwater" } });
    await kubernetes.request({ method: "DELETE", path: pathsOf("components"), query: { labelSelector: "bench=headwater" } });
    await end(forward);
    await kubernetes.close();
  }
}

const pathsOf = (plural: string, ...name: readonly string[]): string =>
  pathOf(["apis", "headwater.dev", "v1alpha1", "namespaces", namespace, plural, ...name]);

async function apply(kubernetes: Kubernetes, kind: string, plural: string, name: string, spec: object): Promise<void> {
  await kubernetes.request({
    method: "PATCH",
    path: pathsOf(plural, name),
    query: { fieldManager: "bench", force: true },
    contentType: "application/apply-patch+yaml",
    body: { apiVersion: "headwater.dev/v1alpha1", kind, metadata: { name, namespace, labels: { bench: "headwater" } }, spec },
  });
}

const read = async (kubernetes: Kubernetes, plural: string, name: string) =>
  found.parse(await kubernetes.request({ method: "GET", path: pathsOf(plural, name) })).status;

async function untilReady(kubernetes: Kubernetes, plural: string, name: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const status = await read(kubernetes, plural, name);
    if (status?.conditions?.some(({ type, status: holds }) => type === "Ready" && holds === "True") === true) return;
    if (performance.now() > deadline) throw new Error(`${name} is not ready within a minute: ${JSON.stringify(status)}`);
    await pause();
  }
}

/** ms. */
async function deploy(kubernetes: Kubernetes, port: number, name: string): Promise<number> {
  const startedAt = performance.now();
  await apply(kubernetes, "Source", "sources", name, { componentRef: { name: component } });
  for (let key: string | undefined; ;) {
    key ??= (await read(kubernetes, "sources", name))?.endpointKey;
    if (key !== undefined && (await answers(port, key))) return performance.now() - startedAt;
    if (performance.now() - startedAt > 30_000) throw new Error(`${name} does not answer within 30 s`);
    await pause();
  }
}

async function answers(port: number, key: string): Promise<boolean> {
  const { statusCode, body } = await request(`http://127.0.0.1:${port}/${key}`, { method: "POST", body: "{}" });
  await body.dump();
  return statusCode === 200;
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));

async function end(child: ChildProcess): Promise<void> {
  child.kill("SIGTERM");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}
