import { randomBytes } from "node:crypto";
import { afterAll, beforeAll } from "vitest";
import { connectKubernetes, type Kubernetes, type KubernetesOptions } from "../../../platform/kubernetes/access/connection.ts";
import { readKubeconfig } from "../../../platform/kubernetes/access/kubeconfig.ts";
import type { KubeApi } from "../../support/kube/kube-api.ts";

/** A connection to the file's API server, closed after the last test. */
export function withKubernetes(kube: KubeApi, options: KubernetesOptions = {}): () => Kubernetes {
  let kubernetes: Kubernetes | undefined;
  beforeAll(async () => {
    if (kube.missing === undefined) kubernetes = await connectKubernetes({ access: await readKubeconfig(kube.kubeconfigPath), ...options });
  });
  afterAll(() => kubernetes?.close());
  return () => {
    if (kubernetes === undefined) throw new Error("there is no connection before beforeAll");
    return kubernetes;
  };
}

/** A unique public id of a user. */
export const newOwner = (): string => `u_${randomBytes(8).toString("hex")}`;

/** Resolves with the first value that is neither undefined nor false; throws after two minutes. */
export async function whenever<T>(look: () => Promise<T | undefined | false> | T | undefined | false, what: string): Promise<T> {
  const deadline = Date.now() + 120_000;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`this did not come about: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
