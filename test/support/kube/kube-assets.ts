import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The programs of a control plane; kubectl is a convenience that some tests need. */
export interface KubeAssets {
  readonly etcd: string;
  readonly kubeApiserver: string;
  readonly kubectl?: string;
}

const suffix = process.platform === "win32" ? ".exe" : "";

/** Both servers from KUBEBUILDER_ASSETS if it is set (they must be there), else from PATH; undefined when PATH lacks them. */
export function findKubeAssets(env: NodeJS.ProcessEnv = process.env): KubeAssets | undefined {
  const named = env["KUBEBUILDER_ASSETS"];
  const path = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return assetsIn(named === undefined || named === "" ? path : [named], path);
}

/** The servers from the first of the folders that has each; kubectl from PATH too. */
export function assetsIn(folders: readonly string[], path: readonly string[] = []): KubeAssets | undefined {
  const etcd = find("etcd", folders);
  const kubeApiserver = find("kube-apiserver", folders);
  const kubectl = find("kubectl", [...folders, ...path]);
  if (etcd === undefined || kubeApiserver === undefined) return undefined;
  return { etcd, kubeApiserver, ...(kubectl === undefined ? {} : { kubectl }) };
}

function find(program: string, folders: readonly string[]): string | undefined {
  return folders.map((folder) => join(folder, program + suffix)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
