import { runnerPoolKind } from "../../crds/runner-pool.ts";
import { defaultPool } from "../../domain/subjects.ts";
import { keyOf } from "../controller/informer.ts";
import { exceptMisfits } from "../controller/skip-invalid.ts";
import type { Runtime } from "../controller/runtime.ts";
import type { OperatorPorts } from "../ports.ts";
import { OwnerPools } from "./owner-pools.ts";
import type { PodSettings } from "./pod-settings.ts";
import type { RunnerPoolPorts } from "./ports.ts";
import { runnerPoolReconciler } from "./reconciler.ts";

/** What an operator that schedules runner pods is given besides; without it there is one pool, and somebody else runs it. */
export interface RunnerPools extends Pick<RunnerPoolPorts, "workloads" | "backlogs" | "memory" | "consumers" | "credentials" | "keys"> {
  readonly settings: PodSettings;
}

type Ports = Pick<OperatorPorts, "store" | "clock" | "events" | "log" | "owners">;

/** Has runner pools watched and reconciled. Returned: whose sources run where, as the cache of pools says. */
export function watchRunnerPools(
  runtime: Pick<Runtime, "cache" | "reconcile" | "lookAgain">,
  given: RunnerPools,
  ports: Ports,
): OwnerPools {
  const ownerPools = new OwnerPools();
  const pools = runtime.cache(runnerPoolKind);
  pools.onChange((pool, deleted) => ownerPools.see(pool, deleted));
  ownerPools.onMove((owner) => {
    ports.owners.find(owner).then(
      (namespace) => namespace !== undefined && runtime.lookAgain(namespace),
      (error: unknown) => ports.log.warn({ op: "pool.move", "owner.id": owner, err: error }, "sources move when they are next looked at"),
    );
  });
  const { settings, ...others } = given;
  const { store, clock, events, log } = ports;
  const controller = runtime
    .reconcile(
      "runner-pool",
      4,
      exceptMisfits(runnerPoolKind, { store, clock }, runnerPoolReconciler(settings, { store, clock, events, log, ...others }, ownerPools)),
    )
    .watch(pools, (pool) => [keyOf(pool), ...ownerPools.othersOf(pool).map((name) => `/${name}`)])
    .always(`/${defaultPool}`);
  given.workloads.onChange((pool) => controller.add(`/${pool}`));
  return ownerPools;
}
