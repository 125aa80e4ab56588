import { planCalls, planCode } from "../../deployable/parts.ts";
import type { Observed } from "../observe/observed.ts";
import type { Blocked } from "./blocked.ts";
import { blockedBy, codeBlockedBy } from "./checks.ts";
import { desiredVersion, isDeployed, type Desired } from "./desired.ts";
import type { PlanInputs } from "./step.ts";
import { planDeletion } from "./plan-deletion.ts";
import { planMove } from "./plan-move.ts";
import { forgetVersions, planRunning, reportBlocked } from "./plan-running.ts";
import type { Step } from "./step.ts";

/**
 * The next steps from the observed to the desired state; none if they agree. A plan ends with the first step whose outcome decides what
 * comes next; then the workflow is observed again.
 *
 * Order of a deployment: the components with the code of its steps, names, additional props, the endpoint's entry with the key of resume
 * URLs, the version, timers, Subscriptions, status. Until the version is written, the previous one runs.
 */
export function plan(observed: Observed, inputs: PlanInputs): readonly Step[] {
  const { workflow, owner } = observed;
  if (workflow.metadata.deletionTimestamp !== undefined) return planDeletion(observed);
  const move = planMove(observed, inputs);
  if (move !== undefined) return move;
  const code = owner === undefined ? [] : planStepCode(observed);
  if (code.length > 0) return code;
  const blocked = blockedBy(observed);
  if (blocked !== undefined || owner === undefined) return blocked === undefined ? [] : planBlocked(observed, inputs, blocked);
  const reload = planCalls(observed.steps);
  if (reload.length > 0) return reload;
  const { endpointKey, pool } = workflow.status;
  if (endpointKey === undefined || pool === undefined)
    return [{ do: "claim", fields: { id: observed.id, endpointKey: endpointKey ?? inputs.endpointKey, pool: observed.pool } }];
  if (workflow.status.emailKey === undefined && workflow.spec.triggers.some(({ email }) => email !== undefined))
    return [{ do: "claim", fields: { emailKey: inputs.emailKey } }];
  if (observed.endpoint?.workflow === undefined) return planEndpoint(observed, endpointKey, owner, inputs);
  const desired = desiredVersion(observed, owner, inputs);
  if (desired === undefined) return []; // blockedBy() has reported it.
  return isDeployed(observed, desired)
    ? planRunning(observed, inputs)
    : planUpdate(observed, desired, observed.endpoint.workflow.resumeKey);
}

/** Stores the steps' own code as components; their builds are then deployed. */
const planStepCode = (observed: Observed): readonly Step[] =>
  planCode(
    observed.workflow,
    observed.steps.filter((step) => codeBlockedBy(step, observed) === undefined),
  );

/**
 * The endpoint's entry has the key of resume URLs in plain, so it is written before the first version, which has the same key sealed. If
 * the entry was lost, the current version gets the new key first: the next plan takes the endpoint as proof of that.
 */
function planEndpoint({ id, pool, deployed }: Observed, key: string, owner: string, { resumeKey }: PlanInputs): readonly Step[] {
  const workflow = { hasHttpTrigger: false, resumeKey };
  return [
    ...(deployed === undefined ? [] : [{ do: "write-deployment", deployment: deployed, secrets: {}, resumeKey } as const]),
    { do: "write-endpoint", key, endpoint: { source: id, pool, owner, customResponse: false, active: false, workflow } },
  ];
}

function planUpdate({ deployed, versions }: Observed, { deployment, version }: Desired, resumeKey: string): readonly Step[] {
  const removed = Object.keys(deployed?.timers ?? {}).filter((name) => deployment.timers?.[name] === undefined);
  const hasNewOwner = deployed !== undefined && deployed.owner !== deployment.owner;
  const secrets = Object.fromEntries(version.steps.map((step) => [step.id, step.secrets]));
  return [
    // Runs of the former owner must not continue with the secrets of this one.
    ...(hasNewOwner ? [{ do: "end-timers" } as const, ...forgetVersions(deployment.pool, versions.keys())] : []),
    ...removed.map((prop): Step => ({ do: "remove-timer", prop })),
    { do: "write-deployment", deployment, secrets, resumeKey, version },
  ];
}

/** The spec cannot run, so the current version does: as it is, but switched on and off by the spec. */
function planBlocked(observed: Observed, inputs: PlanInputs, blocked: Blocked): readonly Step[] {
  const { deployed, endpoint, workflow } = observed;
  const { active } = workflow.spec;
  if (deployed === undefined || endpoint?.workflow === undefined) return reportBlocked(observed, blocked, inputs);
  if (deployed.active !== active) {
    const { resumeKey } = endpoint.workflow;
    const deployment = { ...deployed, active, ...(active ? {} : { offSince: inputs.now }) };
    return [{ do: "write-deployment", deployment, secrets: observed.secrets, resumeKey }];
  }
  return isRebuilt(observed, blocked) ? [] : planRunning(observed, inputs, blocked);
}

/** The current version stays ready while a component of it is built again. */
function isRebuilt({ deployed, workflow: { metadata, status } }: Observed, { reason }: Blocked): boolean {
  const isReady = status.conditions?.some(
    ({ type, status: state, observedGeneration }) => type === "Ready" && state === "True" && observedGeneration === metadata.generation,
  );
  return reason === "ComponentNotBuilt" && deployed?.generation === metadata.generation && isReady === true;
}
