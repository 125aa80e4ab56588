import type { Observed } from "./observed.ts";
import type { SecretProps } from "./secret-props.ts";
import { isDeployed } from "./settled.ts";
import type { Step } from "./step.ts";
import { setTimers, type Running } from "./desired.ts";

/**
 * To another pool's runners, as it is: the entry there first, then everything that makes invocations, then the word to the old
 * pool's runners that they have it no more, last the note where it is now. Killed in between, all of it is done again. What waits
 * for it in the old pool follows it by that word, and a run that was under way there is refused or counts: never both.
 *
 * @param secrets of the version that is deployed, to be sealed for the new pool
 */
export function planMove(observed: Observed, running: Running, movesTo: string, secrets: SecretProps): readonly Step[] {
  const { source, pool, deployed, endpoint } = observed;
  const { endpointKey, nameSlug = "" } = source.status;
  const claim: Step = { do: "claim", nameSlug, endpointKey, pool: movesTo };
  if (deployed === undefined) return [claim];
  const move: Step = { do: "write-deployment", deployment: { ...deployed, pool: movesTo }, secrets };
  const redirect: readonly Step[] =
    endpointKey === undefined || endpoint === undefined
      ? []
      : [{ do: "write-endpoint", key: endpointKey, endpoint: { ...endpoint, pool: movesTo } }];
  // One of an older generation gets its timers with the update that follows.
  const isCurrent = deployed.active && isDeployed(observed, running.build);
  const timers = isCurrent ? setTimers(observed, running, deployed.generation, movesTo) : [];
  return [move, ...redirect, ...timers, { do: "leave-pool", pool, source: running.id, movedTo: movesTo }, claim];
}
