import type { Release, ReleaseOwner } from "../../operator/runner-pool/ports.ts";
import type { Kubernetes } from "./access/connection.ts";
import { undefinedWhenMissing } from "./errors.ts";
import { Unavailable } from "../../domain/errors.ts";
import { parseObject } from "./object.ts";
import { pathOf } from "./paths.ts";

/** How long an answer counts. A ConfigMap that was created again has another uid, and objects of the old one are deleted. */
const maxAgeMs = 30_000;

/**
 * The ConfigMap that owns the objects of runner pools. After the ConfigMap is gone its last uid is still returned: an operator that is
 * shutting down during an uninstall creates only objects that Kubernetes deletes.
 */
export function createReleaseOwner(kubernetes: Kubernetes, namespace: string, name: string): Release {
  const path = pathOf(["api", "v1", "namespaces", namespace, "configmaps", name]);
  let known: { readonly owner: ReleaseOwner; readonly at: number } | undefined;
  return {
    async owner() {
      if (known !== undefined && performance.now() - known.at < maxAgeMs) return known.owner;
      const found = await kubernetes.request({ method: "GET", path }).then(parseObject).catch(undefinedWhenMissing);
      if (found !== undefined)
        known = { owner: { apiVersion: "v1", kind: "ConfigMap", name, uid: found.metadata.uid }, at: performance.now() };
      if (known !== undefined) return known.owner;
      throw new Unavailable(`ConfigMap '${name}' of namespace '${namespace}' does not exist: the release owns runner pods through it`);
    },
  };
}
