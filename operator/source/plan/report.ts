import type { Deployment, RefusedUpdate } from "../../../domain/source/deployment.ts";
import { runningStatus } from "../../../crds/source.ts";
import type { RunError } from "../../../domain/run-products.ts";
import type { Hook } from "../../../domain/trigger.ts";
import { disabledError } from "../../../domain/run/kills.ts";
import { sourceHealth } from "../../../crds/source-health.ts";
import type { Verdict } from "../../controller/status.ts";
import { report as reportOf } from "../../deployable/report.ts";
import { hookError } from "./hooks.ts";
import type { Observed, Fallback } from "../observe/observed.ts";
import type { PlanInputs } from "./step.ts";
import type { Blocked } from "../observe/blocked.ts";
import type { StatusFields, Step } from "./step.ts";
import { blockedMessage, named, refusedMessage } from "./update-messages.ts";
import { componentIdOf, endpointAddress, fallbackView, nextTickTime, type Desired } from "./desired.ts";

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
  return references.length === 0 ? steps : [{ do: "settle-secrets", references }, ...steps];
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
  { source, id }: Observed,
  fields: StatusFields,
  verdict: Verdict,
  eventType: "Normal" | "Warning" | undefined,
): readonly Step[] {
  return reportOf(source, sourceHealth, { id, ...fields }, verdict, eventType);
}
