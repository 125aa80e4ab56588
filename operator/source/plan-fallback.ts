import type { Build } from "../../domain/definition.ts";
import type { Deployment, RefusedUpdate } from "../../domain/deployment.ts";
import { isDisabled } from "../../domain/kills.ts";
import type { Blocked } from "./blocked.ts";
import type { Fresh } from "./inputs.ts";
import { hookError, hookNeeded, runHook } from "./hooks.ts";
import type { Observed, Standing } from "./observed.ts";
import { disable } from "./plan-deployment.ts";
import { planMove } from "./plan-move.ts";
import { planStop } from "./plan-update.ts";
import { reportBlocked, reportDisabled, reportRefused } from "./report.ts";
import { isDeployed } from "./settled.ts";
import type { Step } from "./step.ts";
import { isSameUpdate } from "./update-failure.ts";
import { isOfVersion } from "./version.ts";
import { keepVersion, nextGeneration, setTimers, standingView, writeEndpoint, type Running } from "./desired.ts";

/** Why the spec is not deployed: it cannot be, or its deployment failed. */
export type Hindrance = { readonly blocked: Blocked } | { readonly refused: RefusedUpdate };

/**
 * What is asked for cannot run, so the version that was deployed last does: it goes on, or it is restored when an update has stopped it
 * already. It is deployed as any version is (entry, endpoint, `activate`, timers) and then kept up to date: its secrets, its pool. Ends
 * with what the status says of it.
 */
export function planStanding(observed: Observed, hindrance: Hindrance, fresh: Fresh): readonly Step[] {
  const { standing, deployed, owner, source } = observed;
  const report = (): readonly Step[] =>
    "blocked" in hindrance ? reportBlocked(observed, hindrance.blocked, deployed) : reportRefused(observed, hindrance.refused, fresh);
  if (standing === undefined || owner === undefined || source.status.id === undefined) return report();
  const refused = "refused" in hindrance ? hindrance.refused : undefined;
  const running: Running = { id: source.status.id, owner, build: standing.version.build };
  if (!isOfVersion(standing.version, deployed) || mustBeginAnew(observed, standing, deployed, refused)) {
    const stop = planStop(observed);
    return stop.length > 0 ? stop : restore(observed, standing, running, refused, fresh);
  }
  const view = standingView(observed, standing);
  if (observed.movesTo !== undefined && standing.secrets !== "as they are")
    return planMove(view, running, observed.movesTo, standing.secrets);
  if (isDisabled(observed.kills, deployed.id)) return disable(view, running, reportDisabled(observed, running.id));
  if (source.status.deployment === deployed.id) return [...keepUp(observed, standing, deployed, fresh), ...report()];
  if (deployed.active && hookNeeded(observed, "activate", deployed, 1)) return [runHook(observed, deployed, "activate")];
  const timers = deployed.active ? setTimers(view, running, deployed.generation) : [];
  return [...writeEndpoint(view, running, deployed.active), ...timers, ...report()];
}

/** What is deployed moves as it is, also when another version is asked for. Undefined: it is the one that is asked for. */
export function planStandingMove(observed: Observed, build: Build): readonly Step[] | undefined {
  const { standing, deployed, movesTo, owner, source } = observed;
  if (standing === undefined || movesTo === undefined || owner === undefined || source.status.id === undefined) return undefined;
  if (standing.secrets === "as they are" || !isOfVersion(standing.version, deployed) || isDeployed(observed, build)) return undefined;
  const running: Running = { id: source.status.id, owner, build: standing.version.build };
  return planMove(standingView(observed, standing), running, movesTo, standing.secrets);
}

/**
 * An update that had begun may have asked for `deactivate`; once that has run, the version begins as another deployment, for which
 * `activate` runs again. So it does when the failure of the update is not noted in its entry yet.
 */
function mustBeginAnew({ source }: Observed, { version }: Standing, deployed: Deployment, refused: RefusedUpdate | undefined): boolean {
  if (refused !== undefined && !isSameUpdate(deployed.refused, refused)) return true;
  const hasUpdateBegun = source.status.deployment === undefined && deployed.id === version.deployment.id;
  return hasUpdateBegun && deployed.active && deployed.hooks.includes("deactivate");
}

function restore(
  observed: Observed,
  standing: Standing,
  running: Running,
  refused: RefusedUpdate | undefined,
  fresh: Fresh,
): readonly Step[] {
  const { version } = standing;
  const deployment: Deployment = {
    ...version.deployment,
    pool: observed.pool,
    id: fresh.deployment,
    active: version.deployment.active && version.disabled !== true,
    generation: nextGeneration(observed),
    restores: version.deployment.id,
    ...(refused === undefined ? {} : { refused }),
  };
  return [
    { do: "end-timers", source: running.id },
    { do: "write-deployment", deployment, secrets: standing.secrets },
    ...writeEndpoint(standingView(observed, standing), running, deployment.active),
  ];
}

/** What is deployed is complete. A hook that failed while it was restored is tried again now and then: what it needs may be back. */
function keepUp(observed: Observed, standing: Standing, deployed: Deployment, fresh: Fresh): readonly Step[] {
  const { version, secrets, secretsChanged } = standing;
  if (version.deployment.id !== deployed.id) return [keepVersion({ ...version, deployment: deployed }, version.deployedAt)];
  if (secretsChanged) return [{ do: "write-deployment", deployment: deployed, secrets }];
  const failed = hookError(observed, "activate", deployed) !== undefined;
  return failed && fresh.retryHook ? [runHook(observed, deployed, "activate")] : [];
}
