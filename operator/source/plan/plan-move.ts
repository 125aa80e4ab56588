import type { Observed } from "../observe/observed.ts";
import type { SecretProps } from "../../versions.ts";
import { isDeployed } from "../observe/settled.ts";
import type { Step } from "./step.ts";
import { setTimers, type Running } from "./desired.ts";

/**
 * Moves the deployment unchanged to another pool: its entry there first, then endpoint and timers, then a redirect for the old pool, then
 * the pool in the status. Repeated as a whole after a crash. The redirect makes queued invocations follow; a run in progress in the old
 * pool is either committed or refused, never both.
 *
 * @param secrets of the deployed version, to be sealed for the new pool
 */
export function planMove(observed: Observed, running: Running, movesTo: string, secrets: SecretProps): readonly Step[] {
  const { source, pool, deployed, endpoint } = observed;
  const { endpointKey } = source.status;
  const claim: Step = { do: "claim", fields: { pool: movesTo } };
  if (deployed === undefined) return [claim];
  const move: Step = { do: "write-deployment", deployment: { ...deployed, pool: movesTo }, secrets };
  const redirect: readonly Step[] =
    endpointKey === undefined || endpoint === undefined
      ? []
      : [{ do: "write-endpoint", key: endpointKey, endpoint: { ...endpoint, pool: movesTo } }];
  // An older generation gets its timers with the update that follows.
  const isCurrent = deployed.active && isDeployed(observed, running.build);
  const timers = isCurrent ? setTimers(observed, running, deployed.generation, movesTo) : [];
  return [move, ...redirect, ...timers, { do: "leave-pool", pool, movedTo: movesTo }, claim];
}
