import { apiVersion, finalizer } from "../../../crds/resource.ts";
import { runnerPoolKind, type RunnerPoolResource } from "../../../crds/runner-pool.ts";
import { planWorkloads } from "../../../operator/runner-pool/plan.ts";
import { podSettings, type PodSettings } from "../../../operator/runner-pool/objects/pod-settings.ts";

/** A pool as a store would have it after its creation and adoption. */
export function poolOf(
  name: string,
  spec: Readonly<Record<string, unknown>> = {},
  metadata: Partial<RunnerPoolResource["metadata"]> = {},
): RunnerPoolResource {
  return {
    apiVersion,
    kind: runnerPoolKind.kind,
    metadata: {
      name,
      namespace: "",
      uid: `uid-${name}`,
      resourceVersion: "1",
      generation: 1,
      creationTimestamp: "2026-11-21T10:00:00Z",
      finalizers: [finalizer],
      labels: {},
      annotations: {},
      ...metadata,
    },
    spec: runnerPoolKind.spec.parse(spec),
    status: {},
  };
}

export function settingsOf(changes: Readonly<Record<string, unknown>> = {}): PodSettings {
  return podSettings.parse({
    namespace: "headwater",
    image: "headwater:test",
    nats: { url: "nats://nats:4222", peers: [{ podSelector: { matchLabels: { app: "nats" } } }] },
    ...changes,
  });
}

/** The object of the release that owns a pool's objects. */
export const releaseOwner = { apiVersion: "v1", kind: "ConfigMap", name: "headwater-runner-pods", uid: "uid-release" };

/** The plan of a pool of the release above. */
export const planOf = (pool: RunnerPoolResource, settings: PodSettings, kept = secret, replicas = 1) =>
  planWorkloads({ pool, settings, secret: kept, replicas, owner: releaseOwner });

export const secret = { credentials: "a NATS user of the pool", credentialsVersion: "1", keys: '{"keys":[]}' };
