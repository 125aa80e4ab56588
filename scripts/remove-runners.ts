import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { HeadwaterError } from "../domain/errors.ts";
import { connectKubernetes, pathOf, type Kubernetes } from "../platform/kubernetes/access/connection.ts";

/**
 * Runs after an installation was removed. Deletes the objects that its operator created for runner pods, and the finalizers of the
 * RunnerPools. The RunnerPools stay, like all resources: an operator that is installed later creates their pods again.
 */
const selector = "app.kubernetes.io/managed-by=headwater-operator";
const collections = [
  ["apis", "apps", "v1", "deployments"],
  ["apis", "policy", "v1", "poddisruptionbudgets"],
  ["apis", "networking.k8s.io", "v1", "networkpolicies"],
  ["api", "v1", "serviceaccounts"],
  ["api", "v1", "secrets"],
] as const;
const pools = pathOf(["apis", "headwater.dev", "v1alpha1", "runnerpools"]);
const listShape = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) });
/** An operator that is still shutting down may create further objects. */
const rounds = 3;
const pauseMs = 2_000;

const inNamespace = (namespace: string, parts: readonly string[]): string =>
  pathOf([...parts.slice(0, -1), "namespaces", namespace, ...parts.slice(-1)]);

async function removeRunners(kubernetes: Kubernetes): Promise<void> {
  for (let round = 1; round <= rounds; round++) {
    for (const parts of collections) {
      const path = inNamespace(kubernetes.namespace, parts);
      await kubernetes.request({ method: "DELETE", path, query: { labelSelector: selector, propagationPolicy: "Background" } });
    }
    for (const { metadata } of listShape.parse(await kubernetes.request({ method: "GET", path: pools })).items) {
      const body = { metadata: { finalizers: null } };
      await kubernetes.request({
        method: "PATCH",
        path: pools + pathOf([metadata.name]),
        body,
        contentType: "application/merge-patch+json",
      });
    }
    if (round < rounds) await delay(pauseMs);
  }
}

const kubernetes = await connectKubernetes({ userAgent: "headwater removal" });
try {
  await removeRunners(kubernetes);
} catch (error) {
  if (!(error instanceof HeadwaterError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
} finally {
  await kubernetes.close();
}
