import type { Observed } from "../observe/observed.ts";
import type { PlanInputs } from "./step.ts";
import { emailEndpointOf, endpointOf, timersOf } from "./plan-running.ts";
import type { Step } from "./step.ts";

/**
 * Moves all versions unchanged to another pool: their entries there first, then endpoint and timers, then a redirect for the old pool, which
 * queued invocations and wake-ups follow, then the pool in the status. Repeated as a whole after a crash. Undefined: it does not move.
 */
export function planMove(observed: Observed, _inputs: PlanInputs): readonly Step[] | undefined {
  const { workflow, id, pool, movesTo, deployed, versions, endpoint, secrets } = observed;
  const { endpointKey, emailKey } = workflow.status;
  if (movesTo === undefined || endpointKey === undefined || observed.owner === undefined) return undefined;
  if (observed.tooLarge !== undefined) return undefined; // For that pool.
  const leave = [...versions.keys()].map((deployment): Step => ({ do: "leave-version", pool, deployment }));
  const claim: Step = { do: "claim", fields: { pool: movesTo } };
  if (deployed === undefined) return [...leave, claim];
  const version = versions.get(deployed.id);
  // Secrets that cannot be read now cannot be sealed for the other pool.
  if (version === undefined || endpoint?.workflow === undefined || Object.values(secrets).includes("as they are")) return undefined;
  const { resumeKey } = endpoint.workflow;
  const moved = { ...deployed, workflow: id, pool: movesTo };
  return [
    ...[...versions.values()]
      .filter((each) => each !== version)
      .map((each): Step => ({ do: "copy-version", version: each, from: pool, to: movesTo, resumeKey })),
    { do: "write-deployment", deployment: moved, secrets, resumeKey, version },
    { do: "write-endpoint", key: endpointKey, endpoint: endpointOf(moved, version.triggers, resumeKey) },
    ...(emailKey === undefined
      ? []
      : [{ do: "write-endpoint", key: emailKey, endpoint: emailEndpointOf(moved, version.triggers, resumeKey) } as const]),
    ...timersOf(moved),
    { do: "leave-pool", pool, movedTo: movesTo },
    ...leave,
    claim,
  ];
}
