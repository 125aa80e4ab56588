import type { Build } from "../../../domain/component/definition.ts";
import type { Deployment, RefusedUpdate } from "../../../domain/source/deployment.ts";
import { isDisabled } from "../../../domain/run/kills.ts";
import type { Blocked } from "../observe/blocked.ts";
import type { PlanInputs } from "./step.ts";
import { hookError, hookNeeded, runHook } from "./hooks.ts";
import type { Observed, Fallback } from "../observe/observed.ts";
import { disable } from "./plan-deployment.ts";
import { planMove } from "./plan-move.ts";
import { planStop } from "./plan-update.ts";
import { reportBlocked, reportDisabled, reportRefused } from "./report.ts";
import { isDeployed } from "../observe/settled.ts";
import type { Step } from "./step.ts";
import { isSameUpdate } from "./update-failure.ts";
import { isOfVersion } from "../../versions.ts";
import { keepVersion, nextGeneration, setTimers, fallbackView, writeEndpoint, type Running } from "./desired.ts";

/** Why the spec is not deployed: it is invalid, or its deployment failed. */
export type Hindrance = { readonly blocked: Blocked } | { readonly refused: RefusedUpdate };

/**
 * The requested version cannot run, so the last deployed version does: it keeps running, or is restored if an update has already stopped
 * it. It is deployed as usual (entry, endpoint, `activate`, timers) and then kept current: secrets, pool. Ends with the status report.
 */
export function planFallback(observed: Observed, hindrance: Hindrance, inputs: PlanInputs): readonly Step[] {
  const { fallback, deployed, owner, source } = observed;
  const report = (): readonly Step[] =>
    "blocked" in hindrance ? reportBlocked(observed, hindrance.blocked, deployed) : reportRefused(observed, hindrance.refused, inputs);
  if (fallback === undefined || owner === undefined || source.status.id === undefined) return report();
  const refused = "refused" in hindrance ? hindrance.refused : undefined;
  const running: Running = { id: source.status.id, owner, build: fallback.version.build };
  if (!isOfVersion(fallback.version, deployed) || needsNewDeployment(observed, fallback, deployed, refused)) {
    const stop = planStop(observed);
    return stop.length > 0 ? stop : restore(observed, fallback, running, refused, inputs);
  }
  const view = fallbackView(observed, fallback);
  if (observed.movesTo !== undefined && fallback.secrets !== "as they are")
    return planMove(view, running, observed.movesTo, fallback.secrets);
  if (isDisabled(observed.kills, deployed.id)) return disable(view, running, reportDisabled(observed, running.id));
  if (source.status.deployment === deployed.id) return [...keepCurrent(observed, fallback, deployed, inputs), ...report()];
  if (deployed.active && hookNeeded(observed, "activate", deployed, 1)) return [runHook(observed, deployed, "activate")];
  const timers = deployed.active ? setTimers(view, running, deployed.generation) : [];
  return [...writeEndpoint(view, running, deployed.active), ...timers, ...report()];
}

/** Moves the deployed version as it is, even if another one is requested. Undefined if the requested version is deployed. */
export function planFallbackMove(observed: Observed, build: Build): readonly Step[] | undefined {
  const { fallback, deployed, movesTo, owner, source } = observed;
  if (fallback === undefined || movesTo === undefined || owner === undefined || source.status.id === undefined) return undefined;
  if (fallback.secrets === "as they are" || !isOfVersion(fallback.version, deployed) || isDeployed(observed, build)) return undefined;
  const running: Running = { id: source.status.id, owner, build: fallback.version.build };
  return planMove(fallbackView(observed, fallback), running, movesTo, fallback.secrets);
}

/**
 * The abandoned update may have requested `deactivate`. Once that has run, the version needs a new deployment, for which `activate` runs
 * again. The same applies until its entry records the failed update.
 */
function needsNewDeployment(
  { source }: Observed,
  { version }: Fallback,
  deployed: Deployment,
  refused: RefusedUpdate | undefined,
): boolean {
  if (refused !== undefined && !isSameUpdate(deployed.refused, refused)) return true;
  const hasUpdateBegun = source.status.deployment === undefined && deployed.id === version.deployment.id;
  return hasUpdateBegun && deployed.active && deployed.hooks.includes("deactivate");
}

function restore(
  observed: Observed,
  fallback: Fallback,
  running: Running,
  refused: RefusedUpdate | undefined,
  inputs: PlanInputs,
): readonly Step[] {
  const { version } = fallback;
  const deployment: Deployment = {
    ...version.deployment,
    pool: observed.pool,
    id: inputs.deployment,
    active: version.deployment.active && version.disabled !== true,
    generation: nextGeneration(observed),
    restores: version.deployment.id,
    ...(refused === undefined ? {} : { refused }),
  };
  return [
    { do: "end-timers" },
    { do: "write-deployment", deployment, secrets: fallback.secrets },
    ...writeEndpoint(fallbackView(observed, fallback), running, deployment.active),
  ];
}

/** The deployment is complete. A hook that failed during the restore is retried with backoff. */
function keepCurrent(observed: Observed, fallback: Fallback, deployed: Deployment, inputs: PlanInputs): readonly Step[] {
  const { version, secrets, secretsChanged } = fallback;
  if (version.deployment.id !== deployed.id) return [keepVersion({ ...version, deployment: deployed }, version.deployedAt)];
  if (secretsChanged) return [{ do: "write-deployment", deployment: deployed, secrets }];
  const failed = hookError(observed, "activate", deployed) !== undefined;
  return failed && inputs.retryHook ? [runHook(observed, deployed, "activate")] : [];
}
