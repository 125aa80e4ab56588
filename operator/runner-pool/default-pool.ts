import { runnerPoolKind, type RunnerPoolSpec, type RunnerPoolResource } from "../../crds/runner-pool.ts";
import { Conflict } from "../../domain/errors.ts";
import { defaultPool } from "../../domain/subjects.ts";
import { sameStatus as same } from "../controller/conditions.ts";
import type { PodSettings } from "./objects/pod-settings.ts";
import type { RunnerPoolPorts } from "./ports.ts";

/** The spec that the operator last wrote, to detect changes by users. */
const givenAnnotation = "headwater.dev/given-spec";

/** Creates the default pool. Ignores a pool created concurrently. */
export async function makeDefaultPool(settings: PodSettings, store: RunnerPoolPorts["store"]): Promise<void> {
  if (settings.defaultPool === null) return;
  const spec = runnerPoolKind.spec.parse(settings.defaultPool);
  const annotations = { [givenAnnotation]: JSON.stringify(spec) };
  try {
    await store.create(runnerPoolKind, { name: defaultPool, namespace: "", spec, annotations });
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
  }
}

/** Applies the installation's settings to the pool made from them, unless a user has changed its spec. */
export async function followSettings(
  pool: RunnerPoolResource,
  settings: PodSettings,
  store: RunnerPoolPorts["store"],
): Promise<RunnerPoolResource> {
  const given = pool.metadata.annotations[givenAnnotation];
  if (pool.metadata.name !== defaultPool || settings.defaultPool === null || given === undefined) return pool;
  const spec = runnerPoolKind.spec.parse(settings.defaultPool);
  if (same(spec, JSON.parse(given)) || !same(withoutPin(pool.spec), withoutPin(JSON.parse(given) as RunnerPoolSpec))) return pool;
  const annotations = { ...pool.metadata.annotations, [givenAnnotation]: JSON.stringify(spec) };
  const pin = pool.spec.replicas === undefined ? {} : { replicas: pool.spec.replicas };
  return store.update(runnerPoolKind, { ...pool, metadata: { ...pool.metadata, annotations }, spec: { ...spec, ...pin } });
}

/** `kubectl scale` sets it, and means only the number. */
function withoutPin({ replicas: _, ...spec }: RunnerPoolSpec): Omit<RunnerPoolSpec, "replicas"> {
  return spec;
}
