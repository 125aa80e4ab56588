import { runnerPoolKind } from "../../crds/runner-pool.ts";
import { defaultPool } from "../../domain/subjects.ts";
import { keyOf } from "../controller/informer.ts";
import { skipInvalid } from "../controller/skip-invalid.ts";
import type { Runtime } from "../controller/runtime.ts";
import type { OperatorPorts } from "../ports.ts";
import { OwnerPools } from "./owner-pools.ts";
import type { PodSettings } from "./objects/pod-settings.ts";
import type { RunnerPoolPorts } from "./ports.ts";
import { runnerPoolReconciler } from "./reconciler.ts";

/** Dependencies of an operator that manages runner pods. Without them there is one pool, run by something else. */
export interface RunnerPools extends Pick<
  RunnerPoolPorts,
  "release" | "workloads" | "backlogs" | "load" | "consumers" | "credentials" | "keys"
> {
  readonly settings: PodSettings;
}

type Ports = Pick<OperatorPorts, "store" | "clock" | "events" | "log" | "owners">;

/** Watches and reconciles runner pools. @returns which pool runs which owner's sources, from the cache */
export function watchRunnerPools(
  runtime: Pick<Runtime, "cache" | "reconcile" | "requeueNamespace">,
  given: RunnerPools,
  ports: Ports,
): OwnerPools {
  const ownerPools = new OwnerPools();
  const pools = runtime.cache(runnerPoolKind);
  pools.onChange((pool, deleted) => ownerPools.see(pool, deleted));
  ownerPools.onMove((owner) => {
    ports.owners.find(owner).then(
      (namespace) => namespace !== undefined && runtime.requeueNamespace(namespace),
      (error: unknown) => ports.log.warn({ op: "pool.move", "owner.id": owner, err: error }, "sources move at their next pass"),
    );
  });
  const { settings, ...others } = given;
  const { store, clock, events, log } = ports;
  const controller = runtime
    .reconcile(
      "runner-pool",
      4,
      skipInvalid(runnerPoolKind, { store, clock }, runnerPoolReconciler(settings, { store, clock, events, log, ...others }, ownerPools)),
    )
    .watch(pools, (pool) => [keyOf(pool), ...ownerPools.othersOf(pool).map((name) => `/${name}`)])
    .always(`/${defaultPool}`);
  given.workloads.onChange((pool) => controller.add(`/${pool}`));
  return ownerPools;
}
