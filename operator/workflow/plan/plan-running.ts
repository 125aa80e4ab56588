import { triggerSubscriptionName } from "../../../crds/auto-subscription.ts";
import { stepsOf } from "../../../crds/workflow-steps.ts";
import type { Endpoint, Route } from "../../../domain/source/deployment.ts";
import { canonicalJson } from "../../../domain/canonical-json.ts";
import { filesAddress } from "../../../domain/files/file-url.ts";
import type { WorkflowDeployment } from "../../../domain/workflow/deployment.ts";
import { endMarkerTtlSeconds } from "../../../domain/workflow/run-commit.ts";
import { isMadeFor } from "../../configured/component.ts";
import { workflowHealthOf } from "../../../crds/workflow-health.ts";
import type { Verdict } from "../../controller/status.ts";
import { report as reportOf } from "../../deployable/report.ts";
import { isTriggerSubscription } from "../observe/made.ts";
import type { Observed } from "../observe/observed.ts";
import { shownVersion, type VersionTriggers, type WorkflowVersion } from "../../versions.ts";
import type { Blocked } from "./blocked.ts";
import { endpointUrl } from "./desired.ts";
import type { AddressInputs, PlanInputs, StatusFields, Step } from "./step.ts";

/**
 * Completes the current version and keeps it complete: endpoint, timers, Subscriptions, secrets. Uses only what was stored with the version,
 * so it also works while the spec cannot be deployed. Ends with the status report.
 */
export function planRunning(observed: Observed, inputs: PlanInputs, blocked?: Blocked): readonly Step[] {
  const { deployed, versions, endpoint, secrets } = observed;
  const version = deployed === undefined ? undefined : versions.get(deployed.id);
  if (deployed === undefined || version === undefined || endpoint?.workflow === undefined)
    return blocked === undefined ? [] : reportBlocked(observed, blocked, inputs);
  if (observed.secretsChanged) return [{ do: "write-deployment", deployment: deployed, secrets, resumeKey: endpoint.workflow.resumeKey }];
  return [
    ...keepEndpoint(observed, endpointOf(deployed, version.triggers, endpoint.workflow.resumeKey)),
    ...keepEmailEndpoint(observed, emailEndpointOf(deployed, version.triggers, endpoint.workflow.resumeKey)),
    ...keepFilesAddress(observed, filesEndpointOf(deployed, endpoint.workflow.resumeKey)),
    ...(isComplete(observed, deployed) ? [] : timersOf(deployed, inputs.now - version.deployedAt <= catchUpWithinMs)),
    ...keepRoute(observed, deployed),
    ...keepSubscriptions(observed, version),
    ...retireVersions(observed, deployed, inputs),
    ...(blocked === undefined ? [...settleSecrets(observed, deployed), ...removeUnused(observed)] : []),
    ...(blocked === undefined ? reportReady(observed, deployed, version, inputs) : reportBlocked(observed, blocked, inputs)),
  ];
}

export function endpointOf(deployed: WorkflowDeployment, triggers: VersionTriggers, resumeKey: string): Endpoint {
  const { workflow: source, pool, owner, active } = deployed;
  const { customResponse, hasHttpTrigger } = triggers;
  return { source, pool, owner, customResponse, active, workflow: { hasHttpTrigger, resumeKey } };
}

/** The entry of its email address. Its resume URLs work as those of the endpoint do, which has the same key. */
export function emailEndpointOf(deployed: WorkflowDeployment, triggers: VersionTriggers, resumeKey: string): Endpoint {
  const { workflow: source, pool, owner, active } = deployed;
  const workflow = { hasHttpTrigger: false, hasEmailTrigger: triggers.hasEmailTrigger === true, resumeKey };
  return { source, pool, owner, customResponse: false, active, workflow };
}

/** The entry of the address of its files, which starts no run. */
function filesEndpointOf({ workflow: source, pool, owner }: WorkflowDeployment, resumeKey: string): Endpoint {
  return { source, pool, owner, customResponse: false, active: false, workflow: { hasHttpTrigger: false, resumeKey } };
}

function keepFilesAddress({ id, filesEndpoint }: Observed, desired: Endpoint): readonly Step[] {
  if (canonicalJson(filesEndpoint) === canonicalJson(desired)) return [];
  return [{ do: "write-endpoint", key: filesAddress(id), endpoint: desired }];
}

function keepEmailEndpoint({ emailEndpoint, workflow }: Observed, desired: Endpoint): readonly Step[] {
  const { emailKey } = workflow.status;
  if (emailKey === undefined || canonicalJson(emailEndpoint) === canonicalJson(desired)) return [];
  return [{ do: "write-endpoint", key: emailKey, endpoint: desired }];
}

function keepEndpoint({ endpoint, workflow }: Observed, desired: Endpoint): readonly Step[] {
  const { endpointKey } = workflow.status;
  if (endpointKey === undefined || canonicalJson(endpoint) === canonicalJson(desired)) return [];
  return [{ do: "write-endpoint", key: endpointKey, endpoint: desired }];
}

/**
 * From the workflow to itself, on the default channel, where it cannot hear itself. Events wait for a workflow that is not active. Delivery
 * learns from this entry that it has become active, also if the subscriptions that brought them have ended.
 */
function keepRoute({ id, route }: Observed, { owner, pool, active }: WorkflowDeployment): readonly Step[] {
  const desired: Route = {
    subscription: id,
    owner,
    emitter: id,
    channel: "",
    listener: { kind: "workflow", id, ...(active ? { pool } : { runsIn: pool }) },
  };
  return canonicalJson(route) === canonicalJson(desired) ? [] : [{ do: "write-route", route: desired }];
}

/** Have all its timers been set? The status is written last. */
function isComplete({ workflow: { status } }: Observed, deployed: WorkflowDeployment): boolean {
  return status.deployment === deployed.id && status.active === deployed.active;
}

/** Timers that are set again later must not run ticks again: their runs are forgotten by then. */
const catchUpWithinMs = (endMarkerTtlSeconds * 1_000) / 2;

/** @param catchesUp whether ticks that were missed while the workflow was off may run */
export function timersOf(
  { workflow: source, pool, generation, active, timers = {}, offSince }: WorkflowDeployment,
  catchesUp = false,
): readonly Step[] {
  const since = catchesUp && offSince !== undefined ? { offSince } : {};
  return Object.entries(timers).map(([prop, schedule]): Step => {
    return active ? { do: "set-timer", pool, source, prop, schedule, generation, ...since } : { do: "remove-timer", prop };
  });
}

/**
 * Makes Subscriptions that a user has changed or deleted again. One in deletion is made again once it is gone. A source that another
 * Subscription connects already gets none: its events would start two runs.
 */
function keepSubscriptions(
  { workflow, subscriptions, presentSources, connectedSources }: Observed,
  { triggers }: WorkflowVersion,
): readonly Step[] {
  const sources = triggers.sources.filter((source) => presentSources.has(source) && !connectedSources.has(source));
  const names = new Set(sources.map((source) => triggerSubscriptionName(workflow.metadata.name, source)));
  const made = sources.flatMap((source): readonly Step[] => {
    const now = subscriptions.get(triggerSubscriptionName(workflow.metadata.name, source));
    if (now?.metadata.deletionTimestamp !== undefined) return [];
    if (now !== undefined && (!isMadeFor(workflow, now) || isTriggerSubscription(now, workflow, source))) return [];
    return [{ do: "subscribe", source, now }];
  });
  const ended = [...subscriptions.values()].filter(
    (each) => isMadeFor(workflow, each) && !names.has(each.metadata.name) && each.metadata.deletionTimestamp === undefined,
  );
  return [...made, ...ended.map(({ metadata }): Step => ({ do: "end-subscription", name: metadata.name }))];
}

/** Replaced versions are kept for their suspended runs, but only so many: NATS lists no more than 1,024. */
const maxReplaced = 200;

function retireVersions({ versions }: Observed, { id, pool }: WorkflowDeployment, { now }: PlanInputs): readonly Step[] {
  const replaced = [...versions.values()].filter(({ deployment }) => deployment !== id);
  const oldest = replaced.toSorted((a, b) => b.deployedAt - a.deployedAt).slice(maxReplaced);
  return [
    ...replaced
      .filter((version) => version.replacedAt === undefined && !oldest.includes(version))
      .map((version): Step => ({ do: "retire-version", version, pool, replacedAt: now })),
    ...forgetVersions(
      pool,
      oldest.map(({ deployment }) => deployment),
    ),
  ];
}

export const forgetVersions = (pool: string, ids: Iterable<string>): readonly Step[] =>
  [...ids].flatMap((deployment): readonly Step[] => [
    { do: "leave-version", pool, deployment },
    { do: "forget-version", deployment },
  ]);

/** Secrets that only the replaced version refers to are unused. */
function settleSecrets(observed: Observed, deployed: WorkflowDeployment): readonly Step[] {
  const { metadata, spec } = observed.workflow;
  const references = stepsOf(spec).flatMap(({ node }) => Object.values(node.secrets));
  if (isComplete(observed, deployed) || (references.length === 0 && metadata.generation === 1)) return [];
  return [{ do: "settle-secrets", references }];
}

/** Components of steps that are gone, or have others. */
function removeUnused({ components, steps }: Observed): readonly Step[] {
  const used = new Set(steps.map(({ componentName }) => componentName));
  return components
    .filter(({ metadata }) => !used.has(metadata.name))
    .map(({ metadata }) => ({ do: "remove-component", name: metadata.name }));
}

function reportReady(observed: Observed, deployed: WorkflowDeployment, version: WorkflowVersion, inputs: PlanInputs): readonly Step[] {
  const verdict = deployed.active
    ? { ready: true, reason: "Deployed", message: "its steps are built, and its triggers are set" }
    : { ready: true, reason: "Inactive", message: "deployed and switched off" };
  return report(observed, runningFields(observed, deployed, version, inputs), verdict, "Normal");
}

/** @param blocked why the spec is not deployed; the version that is deployed runs */
export function reportBlocked(observed: Observed, blocked: Blocked, inputs: AddressInputs): readonly Step[] {
  const { deployed, versions } = observed;
  const version = deployed === undefined ? undefined : versions.get(deployed.id);
  const { reason, transient } = blocked;
  const fields = deployed === undefined || version === undefined ? {} : runningFields(observed, deployed, version, inputs);
  const message =
    version === undefined
      ? blocked.message
      : `${blocked.message}; ${shownVersion(version.deployment, version.deployedAt)} ${deployed?.active === true ? "is still running" : "stays paused"}`;
  return report(observed, fields, { ready: false, transient, reason, message }, transient ? undefined : "Warning");
}

function runningFields(
  { workflow }: Observed,
  deployed: WorkflowDeployment,
  version: WorkflowVersion,
  inputs: AddressInputs,
): StatusFields {
  return {
    deployment: deployed.id,
    active: deployed.active,
    endpoint: endpointUrl(workflow.status.endpointKey ?? "", inputs),
    email: emailOf(workflow, version, inputs),
    steps: version.steps.map(({ secrets: _, ...step }) => ({ ...step })),
    updatedAt: version.deployedAt,
  };
}

/** Its address, if emails start runs of this version. */
function emailOf(
  { status: { emailKey } }: Observed["workflow"],
  { triggers }: WorkflowVersion,
  { emailDomain }: AddressInputs,
): string | undefined {
  return emailKey === undefined || emailDomain === undefined || triggers.hasEmailTrigger !== true
    ? undefined
    : `${emailKey}@${emailDomain}`;
}

function report(
  { workflow, id }: Observed,
  fields: StatusFields,
  verdict: Verdict,
  eventType: "Normal" | "Warning" | undefined,
): readonly Step[] {
  return reportOf(workflow, workflowHealthOf, { id, ...fields }, verdict, eventType);
}
