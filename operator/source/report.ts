import type { Deployment, RefusedUpdate } from "../../domain/source/deployment.ts";
import { runningStatus, type SourceResource } from "../../crds/source.ts";
import type { RunError } from "../../domain/run-products.ts";
import type { Hook } from "../../domain/trigger.ts";
import { disabledError } from "../../domain/run/kills.ts";
import { sameStatus, setConditions } from "../controller/conditions.ts";
import { readyConditions, shortened } from "../controller/status.ts";
import { healthFields } from "./health.ts";
import { hookError } from "./plan/hooks.ts";
import type { Observed, Fallback } from "./observe/observed.ts";
import type { PlanInputs } from "./plan/inputs.ts";
import type { Blocked } from "./plan/blocked.ts";
import { withFields, type StatusFields, type Step } from "./plan/step.ts";
import { blockedMessage, named, refusedMessage } from "./update/update-messages.ts";
import { componentIdOf, endpointAddress, fallbackView, nextTickTime, type Desired } from "./plan/desired.ts";

export function reportReady(observed: Observed, desired: Desired, inputs: PlanInputs): readonly Step[] {
  const { active } = observed.source.spec;
  const message = active ? "built, hooks run, timers scheduled" : "deployed and switched off";
  const { generation } = observed.source.metadata;
  const runs = { nameSlug: inputs.nameSlug, runningGeneration: generation, running: undefined };
  return report(
    observed,
    { ...deployedFields(observed, desired, inputs), ...runs, hookFailures: [] },
    { ready: true, reason: active ? "Deployed" : "Inactive", message },
    "Normal",
  );
}

/** Written before the running version is stopped, see `beginUpdate`. */
export function reportUpdating(observed: Observed): readonly Step[] {
  const { fallback } = observed;
  if (fallback === undefined) return [];
  const message = `${named(fallback.version)} is being replaced`;
  const fields = { ...runningFields(observed, fallback), deployment: undefined };
  return report(observed, fields, { ready: false, transient: true, reason: "Updating", message }, undefined);
}

/** The update has failed, and the previous version runs again. */
export function reportRefused(observed: Observed, refused: RefusedUpdate, inputs: PlanInputs): readonly Step[] {
  const { source, fallback, deployed } = observed;
  if (fallback === undefined || deployed === undefined) return [];
  const { version } = fallback;
  const restoreError = hookError(observed, "activate", deployed);
  const view = fallbackView(observed, fallback);
  const fields: StatusFields = {
    ...runningFields(observed, fallback),
    deployment: deployed.id,
    nextTickTime: nextTickTime(view.source, version.build, inputs.now, version.deployedAt),
    hookFailures: [
      ...(refused.hook === undefined ? [] : [{ hook: refused.hook, error: refused.error }]),
      ...(restoreError === undefined ? [] : [{ hook: "activate" as const, error: restoreError }]),
    ],
  };
  const message = refusedMessage(refused, version, restoreError);
  const steps = report(observed, fields, { ready: false, reason: "UpdateFailed", message }, "Warning");
  if (steps.length === 0) return [];
  // Settle the secrets of both versions: the running one still reads its own, and those of the failed one are deleted with the source.
  const references = [...Object.values(source.spec.secrets), ...Object.values(version.spec.secrets)];
  return references.length === 0 ? steps : [{ do: "settle-secrets", generation: source.metadata.generation, references }, ...steps];
}

export function reportFailed(observed: Observed, desired: Desired, hook: Hook, error: RunError): readonly Step[] {
  const message = `hook ${hook} failed: ${error.name}: ${error.message}. Change the source to try again, for instance its redeploy`;
  const fields = { ...componentFields(desired), nextTickTime: undefined, hookFailures: [{ hook, error }] };
  return report(observed, fields, { ready: false, reason: "HookFailed", message }, "Warning");
}

/** Its runs repeatedly killed their process, so runners refuse it. */
export function reportDisabled(observed: Observed, source: string, desired?: Desired): readonly Step[] {
  const { message } = disabledError(source);
  const fields = { ...(desired === undefined ? {} : componentFields(desired)), nextTickTime: undefined };
  return report(observed, fields, { ready: false, reason: "SourceDisabled", message }, "Warning");
}

/** @param runs the deployment, if it is complete: the last deployed version keeps running */
export function reportBlocked(observed: Observed, blocked: Blocked, runs?: Deployment): readonly Step[] {
  const { reason, transient } = blocked;
  const { fallback } = observed;
  const fields: StatusFields =
    fallback === undefined ? {} : { ...runningFields(observed, fallback), ...(runs === undefined ? {} : { deployment: runs.id }) };
  const message = fallback === undefined ? blocked.message : blockedMessage(observed, blocked, fallback);
  return report(observed, fields, { ready: false, transient, reason, message }, transient ? undefined : "Warning");
}

/** The plan waits for a run of this hook. */
export function reportWaiting(
  { source }: Pick<Observed, "source">,
  hook: Hook,
  reason: "HookRunning" | "HookOverdue",
  message: string,
): readonly Step[] {
  if (source.metadata.deletionTimestamp !== undefined) return []; // Conditions of a resource in deletion are not read.
  return report({ source }, {}, { ready: false, transient: true, reason, message: `hook ${hook} ${message}` }, undefined);
}

function deployedFields(observed: Observed, desired: Desired, inputs: PlanInputs): StatusFields {
  const endpoint = endpointAddress(observed, inputs.ingressUrl);
  return {
    ...componentFields(desired),
    updatedAt: inputs.now,
    nextTickTime: nextTickTime(observed.source, desired.build, inputs.now),
    ...(observed.deployed === undefined ? {} : { deployment: observed.deployed.id }),
    ...(endpoint === null ? {} : { endpoint }),
  };
}

function componentFields({ component }: Desired): StatusFields {
  return { component: component.metadata.name, componentId: componentIdOf(component) };
}

/** The running version, with its spec if another one is requested. */
function runningFields({ source }: Observed, { version: { deployment, spec, component } }: Fallback): StatusFields {
  const runningGeneration = deployment.sourceGeneration ?? deployment.generation;
  return {
    runningGeneration,
    running: runningGeneration === source.metadata.generation ? undefined : runningStatus(spec),
    component: component.name,
    componentId: component.id,
  };
}

function report(
  { source }: Pick<Observed, "source">,
  fields: StatusFields,
  verdict: Parameters<typeof readyConditions>[0],
  eventType: "Normal" | "Warning" | undefined,
): readonly Step[] {
  const { generation } = source.metadata;
  const { reason, message } = verdict;
  const conditions = readyConditions({ ...verdict, message: shortened(message) }).map((condition) => ({
    ...condition,
    observedGeneration: generation,
  }));
  const step: Step = { do: "report", fields: { ...fields, observedGeneration: generation }, conditions };
  if (isReportedAs(source, step)) return [];
  return eventType === undefined ? [step] : [step, { do: "record-event", type: eventType, reason, message }];
}

function isReportedAs(source: SourceResource, step: Extract<Step, { do: "report" }>): boolean {
  const { conditions = [], state } = source.status;
  const reported = withFields(source.status, { ...step.fields, conditions: setConditions(conditions, step.conditions, 0) });
  // A status of an earlier Headwater has no state. The next activity refresh adds it, so that an upgrade does not write all at once.
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
