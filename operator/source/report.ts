import { idOfResourceName } from "../../domain/ids.ts";
import type { Hook, RunError } from "../../domain/invocation.ts";
import { disabledError } from "../../domain/kills.ts";
import { sameStatus, setConditions } from "../controller/conditions.ts";
import { readyConditions, shortened } from "../controller/status.ts";
import type { Observed } from "./observed.ts";
import type { Fresh } from "./fresh.ts";
import type { Blocked } from "./blocked.ts";
import { nextTickTime } from "./next-tick.ts";
import type { SourceResource } from "./resources.ts";
import { endpointAddress, type Wanted } from "./wanted.ts";
import type { StatusFields, Step } from "./step.ts";

export function reportReady(observed: Observed, wanted: Wanted, fresh: Fresh): readonly Step[] {
  const { active } = observed.source.spec;
  const message = active ? "built, hooks run, timers scheduled" : "deployed and switched off";
  return report(
    observed,
    { ...deployedFields(observed, wanted, fresh), hookFailures: [] },
    { ready: true, reason: active ? "Deployed" : "Inactive", message },
    "Normal",
  );
}

export function reportFailed(observed: Observed, wanted: Wanted, hook: Hook, error: RunError): readonly Step[] {
  const message = `hook ${hook} failed: ${error.name}: ${error.message}. Change the source to try again, for instance its redeploy`;
  const fields = { ...componentFields(wanted), nextTickTime: undefined, hookFailures: [{ hook, error }] };
  return report(observed, fields, { ready: false, reason: "HookFailed", message }, "Warning");
}

/** Its runs cost process after process, so that runners refuse to run it. */
export function reportDisabled(observed: Observed, wanted: Wanted): readonly Step[] {
  const { message } = disabledError(wanted.id);
  const fields = { ...componentFields(wanted), nextTickTime: undefined };
  return report(observed, fields, { ready: false, reason: "SourceDisabled", message }, "Warning");
}

/** Nothing is taken away: what was deployed before goes on running. */
export function reportBlocked(observed: Observed, blocked: Blocked): readonly Step[] {
  const { reason, message, passing } = blocked;
  return report(observed, {}, { ready: false, passing, reason, message }, passing ? undefined : "Warning");
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
  const { name } = component.metadata;
  return { component: name, componentId: component.status.id ?? idOfResourceName(name) ?? name };
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
  const next = {
    ...source.status,
    ...step.fields,
    conditions: setConditions(source.status.conditions ?? [], step.conditions, 0),
  };
  const timeless = (status: StatusFields) => ({
    ...status,
    updatedAt: 0,
    nextTickTime: "",
    conditions: status.conditions?.map((condition) => ({ ...condition, lastTransitionTime: "" })),
  });
  return sameStatus(timeless(source.status), timeless(next));
}
