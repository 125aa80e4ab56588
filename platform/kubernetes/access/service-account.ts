import { access } from "node:fs/promises";
import { join } from "node:path";
import type { ClusterAccess } from "./access.ts";
import { createClientAccess } from "./client-access.ts";
import { newKubeConfig } from "./client-credentials.ts";

const tokenFile = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/**
 * The service account of our pod. Its token expires within the hour and is replaced in the file, which is read every minute, and at once
 * after a rejection. https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/
 * @param root directory containing the pod's files
 */
export async function findServiceAccount(root = ""): Promise<ClusterAccess | undefined> {
  if (!process.env["KUBERNETES_SERVICE_HOST"] || !process.env["KUBERNETES_SERVICE_PORT"]) return undefined;
  const mounted = await access(join(root, tokenFile)).then(
    () => true,
    () => false,
  );
  if (!mounted) return undefined;
  const config = await newKubeConfig();
  config.loadFromCluster(root);
  const [cluster, user] = [config.getCurrentCluster(), config.getCurrentUser()];
  if (cluster === null || user === null) return undefined;
  return createClientAccess({ cluster, user, namespace: config.getContexts()[0]?.namespace });
}
