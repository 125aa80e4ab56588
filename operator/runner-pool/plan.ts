import { createHash } from "node:crypto";
import { apiVersion } from "../../crds/resource.ts";
import { runnerPoolKind } from "../../crds/runner-pool.ts";
import { networkPolicySpec } from "./network-policy.ts";
import { podSelector, workloadLabels, workloadName, type RunnerPoolResource } from "./names.ts";
import type { WorkloadMetadata, WorkloadObject } from "./objects.ts";
import { credentialsFile, podTemplate } from "./pod.ts";
import type { PodSettings } from "./pod-settings.ts";

export interface PoolSecret {
  /** Text of the NATS credentials of the pool's runners. */
  readonly credentials: string;
  /** Changes when the credentials have to. */
  readonly credentialsVersion: string;
  /** JWK Set that opens what is sealed for the pool. */
  readonly keys: string;
}

export const credentialsVersionAnnotation = "headwater.dev/credentials-version";
const keysFile = (pool: string): string => `pool-${pool}.json`;

/** Everything a pool is made of, in the order in which a pod needs it. Orphaned, it stays when the pool goes. */
export function planWorkloads(
  pool: RunnerPoolResource,
  settings: PodSettings,
  secret: PoolSecret,
  replicas: number,
  belonging: "owned" | "orphaned" = "owned",
): readonly WorkloadObject[] {
  const { name } = pool.metadata;
  const matchLabels = podSelector(settings.release, name);
  const metadata = metadataOf(pool, settings, belonging);
  const data = secretData(name, secret);
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata, automountServiceAccountToken: false },
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { ...metadata, annotations: { [credentialsVersionAnnotation]: secret.credentialsVersion } },
      type: "Opaque",
      data,
    },
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata,
      spec: networkPolicySpec(settings, matchLabels, pool.spec.egressAllow),
    },
    {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata,
      // Not minAvailable, which would keep the node of an only runner from ever being drained.
      spec: { maxUnavailable: 1, selector: { matchLabels }, unhealthyPodEvictionPolicy: "AlwaysAllow" },
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: {
        replicas,
        selector: { matchLabels },
        revisionHistoryLimit: 2,
        progressDeadlineSeconds: 120,
        // The new one first: a pool of one goes on running while it is replaced.
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        template: podTemplate({ pool: name, spec: pool.spec, settings, secretHash: hashOf(data) }),
      },
    },
  ];
}

function metadataOf(
  { metadata: { name, uid } }: RunnerPoolResource,
  { namespace, release }: PodSettings,
  belonging: "owned" | "orphaned",
): WorkloadMetadata {
  const metadata = { name: workloadName(name), namespace, labels: workloadLabels(release, name) };
  // Should the pool vanish without us, the cluster collects what it was made of.
  const owner = { apiVersion, kind: runnerPoolKind.kind, name, uid, controller: true };
  return belonging === "owned" ? { ...metadata, ownerReferences: [owner] } : metadata;
}

function secretData(pool: string, { credentials, keys }: PoolSecret): Readonly<Record<string, string>> {
  return { [credentialsFile]: base64(credentials), [keysFile(pool)]: base64(keys) };
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

const hashOf = (data: Readonly<Record<string, string>>): string =>
  createHash("sha256").update(JSON.stringify(data)).digest("hex").slice(0, 32);
