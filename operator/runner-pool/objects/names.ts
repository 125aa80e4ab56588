import type { RunnerPoolResource } from "../../../crds/runner-pool.ts";

/** The owner of a pool determines what its runners may write. */
export interface PoolIdentity {
  readonly pool: string;
  /** Absent: all owners without a pool. */
  readonly owner?: string;
}

export function identityOf({ metadata, spec }: RunnerPoolResource): PoolIdentity {
  return { pool: metadata.name, ...(spec.owner === undefined ? {} : { owner: spec.owner }) };
}

/** Label with the pool's name on all of its objects. */
export const poolLabel = "headwater.dev/pool";

/** Shared by the Deployment, ServiceAccount, NetworkPolicy, PodDisruptionBudget and Secret of a pool. */
export const workloadName = (pool: string): string => `headwater-runner-${pool}`;

/** Selects the pods of a pool. Must never change: a Deployment's selector is immutable. */
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

/** A pool's name is also a token of NATS subjects, so it has no dots. `crds/runner-pool.ts` has the same length limit and its reason. */
export const isPoolName = (name: string): boolean => /^[a-z0-9]([-a-z0-9]{0,33}[a-z0-9])?$/.test(name);

export const formatSelector = (selector: Readonly<Record<string, string>>): string =>
  Object.entries(selector)
    .map(([name, value]) => `${name}=${value}`)
    .join(",");
