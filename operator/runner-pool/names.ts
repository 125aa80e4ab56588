import type { Resource } from "../../crds/resource.ts";
import type { PoolIdentity } from "./ports.ts";
import type { RunnerPoolSpec, RunnerPoolStatus } from "../../crds/runner-pool.ts";

export type RunnerPoolResource = Resource<RunnerPoolSpec, RunnerPoolStatus>;

export function identityOf({ metadata, spec }: RunnerPoolResource): PoolIdentity {
  return { pool: metadata.name, ...(spec.owner === undefined ? {} : { owner: spec.owner }) };
}

/** On everything that a pool is made of: its name. */
export const poolLabel = "headwater.dev/pool";

/** Deployment, ServiceAccount, NetworkPolicy, PodDisruptionBudget and Secret of a pool have one name. */
export const workloadName = (pool: string): string => `headwater-runner-${pool}`;

/** What selects the pods of a pool, for ever: a Deployment's selector cannot be changed. */
export function podSelector(release: string, pool: string): Readonly<Record<string, string>> {
  return { "app.kubernetes.io/component": "runner", "app.kubernetes.io/instance": release, [poolLabel]: pool };
}

export function workloadLabels(release: string, pool: string): Readonly<Record<string, string>> {
  return {
    "app.kubernetes.io/name": "headwater",
    ...podSelector(release, pool),
    "app.kubernetes.io/managed-by": "headwater-operator",
  };
}

/** A pool's name is a token of subjects as well, so it has no dots; `crds/runner-pool.ts` says the same of its length, and why. */
export const isPoolName = (name: string): boolean => /^[a-z0-9]([-a-z0-9]{0,33}[a-z0-9])?$/.test(name);

export const formatSelector = (selector: Readonly<Record<string, string>>): string =>
  Object.entries(selector)
    .map(([name, value]) => `${name}=${value}`)
    .join(",");
