import { hash } from "node:crypto";
import type { RunnerPoolResource } from "../../crds/runner-pool.ts";
import { networkPolicySpec } from "./objects/network-policy.ts";
import { podSelector, workloadLabels, workloadName } from "./objects/names.ts";
import type { WorkloadMetadata, WorkloadObject } from "./objects/objects.ts";
import { credentialsFile, podTemplate } from "./objects/pod.ts";
import type { PodSettings } from "./objects/pod-settings.ts";
import type { ReleaseOwner } from "./ports.ts";

export interface PoolSecret {
  /** NATS credentials file of the pool's runners. */
  readonly credentials: string;
  /** Changes when the credentials must be replaced. */
  readonly credentialsVersion: string;
  /** JWK Set that opens what is sealed for the pool. */
  readonly keys: string;
}

export const credentialsVersionAnnotation = "headwater.dev/credentials-version";
const keysFile = (pool: string): string => `pool-${pool}.json`;

interface PoolPlan {
  readonly pool: RunnerPoolResource;
  readonly settings: PodSettings;
  readonly secret: PoolSecret;
  readonly replicas: number;
  readonly owner: ReleaseOwner;
}

/** All objects of a pool, in the order in which a pod needs them. */
export function planWorkloads({ pool, settings, secret, replicas, owner }: PoolPlan): readonly WorkloadObject[] {
  const { name } = pool.metadata;
  const matchLabels = podSelector(settings.release, name);
  const metadata = metadataOf(name, settings, owner);
  const data = secretData(name, secret);
  const template = podTemplate({ pool: name, spec: pool.spec, settings, secretHash: hashOf(data) });
  const policy = networkPolicySpec(settings, matchLabels, pool.spec.egressAllow);
  const annotations = { [credentialsVersionAnnotation]: secret.credentialsVersion };
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata, automountServiceAccountToken: false },
    { apiVersion: "v1", kind: "Secret", metadata: { ...metadata, annotations }, type: "Opaque", data },
    { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata, spec: policy },
    { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata, spec: disruptionBudget(matchLabels) },
    { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: deploymentSpec(matchLabels, replicas, template) },
  ];
}

type Labels = Readonly<Record<string, string>>;

/** Not `minAvailable`: with a single runner it would block draining its node forever. */
function disruptionBudget(matchLabels: Labels) {
  return { maxUnavailable: 1, selector: { matchLabels }, unhealthyPodEvictionPolicy: "AlwaysAllow" } as const;
}

function deploymentSpec(matchLabels: Labels, replicas: number, template: ReturnType<typeof podTemplate>) {
  return {
    replicas,
    selector: { matchLabels },
    revisionHistoryLimit: 2,
    progressDeadlineSeconds: 120,
    // Start the new pod first, so that a pool of one keeps running during a rollout.
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    template,
  } as const;
}

/** The release owns them, not the pool: Kubernetes deletes them when the release is uninstalled, and the operator with their pool. */
function metadataOf(pool: string, { namespace, release }: PodSettings, owner: ReleaseOwner): WorkloadMetadata {
  return { name: workloadName(pool), namespace, labels: workloadLabels(release, pool), ownerReferences: [owner] };
}

function secretData(pool: string, { credentials, keys }: PoolSecret): Readonly<Record<string, string>> {
  return { [credentialsFile]: base64(credentials), [keysFile(pool)]: base64(keys) };
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

const hashOf = (data: Readonly<Record<string, string>>): string => hash("sha256", JSON.stringify(data)).slice(0, 32);
