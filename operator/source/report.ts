import type { Deployment, RefusedUpdate } from "../../domain/deployment.ts";
import type { Hook, RunError } from "../../domain/invocation.ts";
import { disabledError } from "../../domain/kills.ts";
import { sameStatus, setConditions } from "../controller/conditions.ts";
import { readyConditions, shortened } from "../controller/status.ts";
import { healthFields } from "./health.ts";
import { hookError } from "./hooks.ts";
import type { Observed, Standing } from "./observed.ts";
import type { Fresh } from "./inputs.ts";
import type { Blocked } from "./blocked.ts";
import { nextTickTime } from "./next-tick.ts";
import type { SourceResource } from "./resources.ts";
import { withFields, type StatusFields, type Step } from "./step.ts";
import { blockedMessage, named, refusedMessage } from "./update-messages.ts";
import { componentIdOf, endpointAddress, standingView, type Wanted } from "./desired.ts";

export function reportReady(observed: Observed, wanted: Wanted, fresh: Fresh): readonly Step[] {
  const { active } = observed.source.spec;
  const message = active ? "built, hooks run, timers scheduled" : "deployed and switched off";
  const { generation } = observed.source.metadata;
  const runs = { nameSlug: fresh.nameSlug, runningGeneration: generation, running: undefined };
  return report(
    observed,
    { ...deployedFields(observed, wanted, fresh), ...runs, hookFailures: [] },
    { ready: true, reason: active ? "Deployed" : "Inactive", message },
    "Normal",
  );
}

/** The version that runs is about to be stopped. Written before that, see `beginUpdate`. */
export function reportUpdating(observed: Observed): readonly Step[] {
  const { standing } = observed;
  if (standing === undefined) return [];
  const message = `${named(standing.version)} is being replaced`;
  const fields = { ...runningFields(observed, standing), deployment: undefined };
  return report(observed, fields, { ready: false, passing: true, reason: "Updating", message }, undefined);
}

/** The update has failed, and the version before it runs again. */
export function reportRefused(observed: Observed, refused: RefusedUpdate, fresh: Fresh): readonly Step[] {
  const { source, standing, deployed } = observed;
  if (standing === undefined || deployed === undefined) return [];
  const { version } = standing;
  const restoreError = hookError(observed, "activate", deployed);
  const view = standingView(observed, standing);
  const fields: StatusFields = {
    ...runningFields(observed, standing),
    deployment: deployed.id,
    nextTickTime: nextTickTime(view.source, version.build, fresh.now, version.deployedAt),
    hookFailures: [
      ...(refused.hook === undefined ? [] : [{ hook: refused.hook, error: refused.error }]),
      ...(restoreError === undefined ? [] : [{ hook: "activate" as const, error: restoreError }]),
    ],
  };
  const message = refusedMessage(refused, version, restoreError);
  const told = report(observed, fields, { ready: false, reason: "UpdateFailed", message }, "Warning");
  if (told.length === 0) return [];
  // Secrets of both: those of the version that runs are still read, and those of the failed one end with the source.
  const references = [...Object.values(source.spec.secrets), ...Object.values(version.spec.secrets)];
  return references.length === 0 ? told : [{ do: "settle-secrets", generation: source.metadata.generation, references }, ...told];
}

export function reportFailed(observed: Observed, wanted: Wanted, hook: Hook, error: RunError): readonly Step[] {
  const message = `hook ${hook} failed: ${error.name}: ${error.message}. Change the source to try again, for instance its redeploy`;
  const fields = { ...componentFields(wanted), nextTickTime: undefined, hookFailures: [{ hook, error }] };
  return report(observed, fields, { ready: false, reason: "HookFailed", message }, "Warning");
}

/** Its runs cost process after process, so that runners refuse to run it. */
export function reportDisabled(observed: Observed, source: string, wanted?: Wanted): readonly Step[] {
  const { message } = disabledError(source);
  const fields = { ...(wanted === undefined ? {} : componentFields(wanted)), nextTickTime: undefined };
  return report(observed, fields, { ready: false, reason: "SourceDisabled", message }, "Warning");
}

/** @param runs what is deployed, when it is known to be complete: the version that was deployed last goes on running */
export function reportBlocked(observed: Observed, blocked: Blocked, runs?: Deployment): readonly Step[] {
  const { reason, passing } = blocked;
  const { standing } = observed;
  const fields: StatusFields =
    standing === undefined ? {} : { ...runningFields(observed, standing), ...(runs === undefined ? {} : { deployment: runs.id }) };
  const message = standing === undefined ? blocked.message : blockedMessage(observed, blocked, standing);
  return report(observed, fields, { ready: false, passing, reason, message }, passing ? undefined : "Warning");
}

/** Its plan waits for a run of this hook. */
export function reportWaiting(
  { source }: Pick<Observed, "source">,
  hook: Hook,
  reason: "HookRunning" | "HookOverdue",
  message: string,
): readonly Step[] {
  if (source.metadata.deletionTimestamp !== undefined) return []; // Of a resource in deletion nobody reads conditions.
  return report({ source }, {}, { ready: false, passing: true, reason, message: `hook ${hook} ${message}` }, undefined);
}

function deployedFields(observed: Observed, wanted: Wanted, fresh: Fresh): StatusFields {
  const endpoint = endpointAddress(observed, fresh.ingressUrl);
  return {
    ...componentFields(wanted),
    updatedAt: fresh.now,
    nextTickTime: nextTickTime(observed.source, wanted.build, fresh.now),
    ...(observed.deployed === undefined ? {} : { deployment: observed.deployed.id }),
    ...(endpoint === null ? {} : { endpoint }),
  };
}

function componentFields({ component }: Wanted): StatusFields {
  return { component: component.metadata.name, componentId: componentIdOf(component) };
}

/** What runs, and the spec of it where another one is asked for. */
function runningFields({ source }: Observed, { version: { deployment, spec, component } }: Standing): StatusFields {
  const runningGeneration = deployment.sourceGeneration ?? deployment.generation;
  const { name, componentRef, props, secrets, active, emitOnDeploy, ignoreHookErrors } = spec;
  const running = {
    ...(name === undefined ? {} : { name }),
    ...(componentRef === undefined ? {} : { componentRef }),
    props,
    secrets,
    active,
    emitOnDeploy,
    ignoreHookErrors,
  };
  return {
    runningGeneration,
    running: runningGeneration === source.metadata.generation ? undefined : running,
    component: component.name,
    componentId: component.id,
  };
}

function report(
  { source }: Pick<Observed, "source">,
  fields: StatusFields,
  verdict: Parameters<typeof readyConditions>[0],
  told: "Normal" | "Warning" | undefined,
): readonly Step[] {
  const { generation } = source.metadata;
  const { reason, message } = verdict;
  const conditions = readyConditions({ ...verdict, message: shortened(message) }).map((condition) => ({
    ...condition,
    observedGeneration: generation,
  }));
  const step: Step = { do: "report", fields: { ...fields, observedGeneration: generation }, conditions };
  if (isReportedAs(source, step)) return [];
  return told === undefined ? [step] : [step, { do: "tell", type: told, reason, message }];
}

function isReportedAs(source: SourceResource, step: Extract<Step, { do: "report" }>): boolean {
  const { conditions = [], state } = source.status;
  const reported = withFields(source.status, { ...step.fields, conditions: setConditions(conditions, step.conditions, 0) });
  // A status of an earlier version has no state: the next look at its runs adds it, so that an update does not write all at once.
  const next = state === undefined ? reported : { ...reported, ...healthFields(source, reported) };
  const timeless = (status: StatusFields) => ({
    ...status,
    updatedAt: 0,
    nextTickTime: "",
    problem: status.problem === undefined ? undefined : { ...status.problem, since: "" },
    conditions: status.conditions?.map((condition) => ({ ...condition, lastTransitionTime: "" })),
  });
  return sameStatus(timeless(source.status), timeless(next));
}
