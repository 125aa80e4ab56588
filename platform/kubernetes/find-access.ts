import { InvalidInput } from "../../domain/errors.ts";
import type { ClusterAccess } from "./access.ts";
import { readKubeconfig } from "./kubeconfig.ts";
import { findServiceAccount } from "./service-account.ts";

/**
 * The service account of the pod we run in, else the file or files that KUBECONFIG names. Never `~/.kube/config`: whoever means
 * a cluster says so. @throws InvalidInput when neither is there or the file is wrong
 */
export async function findAccess(): Promise<ClusterAccess> {
  const account = await findServiceAccount();
  if (account !== undefined) return account;
  const files = process.env["KUBECONFIG"];
  if (files !== undefined && files !== "") return readKubeconfig(files);
  throw new InvalidInput("no Kubernetes cluster is named: run in a pod with a service account, or set KUBECONFIG to a kubeconfig file", {
    code: "no_cluster",
  });
}
