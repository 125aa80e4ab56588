import { apiVersion, finalizer } from "../../../crds/resource.ts";
import { runnerPoolKind, type RunnerPoolResource } from "../../../crds/runner-pool.ts";
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

export const secret = { credentials: "a NATS user of the pool", credentialsVersion: "1", keys: '{"keys":[]}' };
