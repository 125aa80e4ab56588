import { InvalidInput } from "../../../domain/errors.ts";
import type { ClusterAccess } from "./access.ts";
import { readKubeconfig } from "./kubeconfig.ts";
import { findServiceAccount } from "./service-account.ts";

/**
 * The service account of our pod, else the files in KUBECONFIG. Never `~/.kube/config`: a cluster must be chosen explicitly.
 * @throws InvalidInput when neither exists or a file is invalid
 */
export async function findAccess(): Promise<ClusterAccess> {
  const account = await findServiceAccount();
  if (account !== undefined) return account;
  const files = process.env["KUBECONFIG"];
  if (files !== undefined && files !== "") return readKubeconfig(files);
  throw new InvalidInput(
    "no Kubernetes cluster is configured: run in a pod with a service account, or set KUBECONFIG to a kubeconfig file",
    {
      code: "no_cluster",
    },
  );
}
