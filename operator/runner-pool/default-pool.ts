import { runnerPoolKind, type RunnerPoolSpec } from "../../crds/runner-pool.ts";
import { Conflict } from "../../domain/errors.ts";
import { defaultPool } from "../../domain/subjects.ts";
import { sameStatus as same } from "../controller/conditions.ts";
import type { RunnerPoolResource } from "./names.ts";
import type { PodSettings } from "./pod-settings.ts";
import type { RunnerPoolPorts } from "./ports.ts";

/** The spec that we gave it, so that we know whether somebody else has changed it since. */
const givenAnnotation = "headwater.dev/given-spec";

/** Makes the pool that everybody's sources run in. Whoever made it in the same moment was right as well. */
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

/** Brings the settings of the installation into the pool that was made from them, unless it has become somebody else's. */
export async function followSettings(
  pool: RunnerPoolResource,
  settings: PodSettings,
  store: RunnerPoolPorts["store"],
): Promise<RunnerPoolResource> {
  const given = pool.metadata.annotations[givenAnnotation];
  if (pool.metadata.name !== defaultPool || settings.defaultPool === null || given === undefined) return pool;
  const spec = runnerPoolKind.spec.parse(settings.defaultPool);
  if (same(spec, JSON.parse(given)) || !same(withoutPin(pool.spec), withoutPin(JSON.parse(given) as RunnerPoolSpec))) return pool; // Written above, from a parsed spec.
  const annotations = { ...pool.metadata.annotations, [givenAnnotation]: JSON.stringify(spec) };
  const pin = pool.spec.replicas === undefined ? {} : { replicas: pool.spec.replicas };
  return store.update(runnerPoolKind, { ...pool, metadata: { ...pool.metadata, annotations }, spec: { ...spec, ...pin } });
}

/** `kubectl scale` sets it, and means the number alone. */
function withoutPin({ replicas: _, ...spec }: RunnerPoolSpec): Omit<RunnerPoolSpec, "replicas"> {
  return spec;
}
