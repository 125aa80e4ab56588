import { holderOf, type SecretHolder } from "../../../crds/secret-values.ts";
import { workflowHealthOf } from "../../../crds/workflow-health.ts";
import { workflowKind, type WorkflowResource } from "../../../crds/workflow.ts";
import { assertNever } from "../../../domain/errors.ts";
import { hasMoved } from "../../../domain/source/deployment.ts";
import { deploymentKey } from "../../../domain/subjects.ts";
import { versionName, type StepDeployment } from "../../../domain/workflow/deployment.ts";
import { endSubscription } from "../../auto-subscription/made.ts";
import { removeComponent, writeComponent } from "../../configured/own-component.ts";
import type { SecretProps } from "../../configured/secret-prop.ts";
import { sealProps, trySecretProps } from "../../configured/secret-props.ts";
import { nextStatus, readyConditions, writeStatus } from "../../controller/status.ts";
import { release } from "../../controller/ownership.ts";
import { settledHealth } from "../../health/status-health.ts";
import type { OperatorPorts } from "../../ports.ts";
import { tickOf } from "../../tick.ts";
import { subscribe } from "../made.ts";
import type { StatusFields, Step } from "../plan/step.ts";
import { ttlSeconds, versionKey } from "../version.ts";

/** A step that only writes and completes at once. The reconciler runs the others. */
export type Applied = Exclude<Step, { do: "reload-props" | "end-connections" }>;

/** Applies one step. Idempotent: entries and timers are replaced. @returns the updated resource */
export async function apply(step: Applied, workflow: WorkflowResource, id: string, ports: OperatorPorts): Promise<WorkflowResource> {
  switch (step.do) {
    case "claim":
      return write(workflow, { id, endpointKey: step.endpointKey, pool: step.pool }, ports);
    case "report":
      return report(step, workflow, ports);
    case "release":
      return release(ports.store, workflowKind, workflow);
    case "record-event":
      ports.events.record(workflow, { type: step.type, reason: step.reason, message: step.message });
      return workflow;
    default:
      await act(step, workflow, id, ports);
      return workflow;
  }
}

/** With the health that follows from it: the refresh of health adds what follows from runs. */
function report(
  { fields, verdict }: Extract<Step, { do: "report" }>,
  workflow: WorkflowResource,
  { store, clock }: OperatorPorts,
): Promise<WorkflowResource> {
  const change = { fields, conditions: readyConditions(verdict), now: clock.now() };
  const next = { ...workflow, status: nextStatus(workflow, change) };
  const isSame = workflow.status.deployment === next.status.deployment;
  const health = settledHealth(workflow.status, workflowHealthOf(workflow), workflowHealthOf(next), isSame);
  return writeStatus(store, workflowKind, workflow, { ...change, fields: { ...fields, ...health } });
}

function write(workflow: WorkflowResource, fields: StatusFields, { store }: OperatorPorts): Promise<WorkflowResource> {
  const status = Object.fromEntries(Object.entries({ ...workflow.status, ...fields }).filter(([, value]) => value !== undefined));
  return store.updateStatus(workflowKind, { ...workflow, status });
}

type Action = Exclude<Applied, { do: "claim" | "report" | "release" | "record-event" }>;

async function act(step: Action, workflow: WorkflowResource, id: string, ports: OperatorPorts): Promise<void> {
  const { namespace, name, uid, generation } = workflow.metadata;
  switch (step.do) {
    case "write-component":
      return writeComponent(step, workflow, ports);
    case "remove-component":
      return removeComponent(step.name, workflow, ports);
    case "set-timer":
      return ports.timers.set(step.pool, id, step.prop, step.schedule, tickOf(step, ports.clock.now()));
    case "remove-timer":
      return ports.timers.remove(id, step.prop);
    case "end-timers":
      return ports.timers.end(id);
    case "write-endpoint":
      return ports.endpoints.put(step.key, step.endpoint);
    case "remove-endpoint":
      return ports.endpoints.delete(step.key);
    case "write-route":
      return ports.routes.put(id, step.route);
    case "remove-route":
      return ports.routes.delete(id);
    case "subscribe":
      return subscribe(workflow, step.source, step.now, ports);
    case "end-subscription":
      return endSubscription(`${namespace}/${step.name}`, ports);
    case "settle-secrets":
      return ports.secretValues.settle({ kind: workflowKind.kind, namespace, name, uid, generation }, step.references);
    case "end-queue":
      return ports.workflowQueues.end(id);
    case "forget-history":
      return ports.histories.forget(step.owner, id);
    default:
      return actOnEntry(step, holderOf(workflowKind, workflow), id, ports);
  }
}

type EntryAction = Extract<
  Action,
  { do: "write-deployment" | "copy-version" | "retire-version" | "leave-version" | "forget-version" | "leave-pool" | "remove-deployment" }
>;

async function actOnEntry(step: EntryAction, holder: SecretHolder, id: string, ports: OperatorPorts): Promise<void> {
  const entries = ports.workflowDeployments;
  switch (step.do) {
    case "write-deployment":
      return writeDeployment(step, holder, ports);
    case "copy-version":
      return copyVersion(step, holder, id, ports);
    case "retire-version": {
      const { version, pool, replacedAt } = step;
      const key = deploymentKey(pool, versionName(id, version.deployment));
      const options = { ttlSeconds: ttlSeconds(replacedAt, ports.clock.now()) };
      const entry = await entries.get(key);
      if (entry !== undefined) await entries.put(key, entry, options);
      return ports.workflowVersions.put(versionKey(id, version.deployment), { ...version, replacedAt }, options);
    }
    case "leave-version":
      return entries.delete(deploymentKey(step.pool, versionName(id, step.deployment)));
    case "forget-version":
      return ports.workflowVersions.delete(versionKey(id, step.deployment));
    case "leave-pool":
      return entries.put(deploymentKey(step.pool, id), { source: id, movedTo: step.movedTo });
    case "remove-deployment":
      return entries.delete(deploymentKey(step.pool, id));
    default:
      return assertNever(step);
  }
}

/** The current entry last: it says that the others are there. */
async function writeDeployment(
  { deployment, secrets, resumeKey, version }: Extract<Step, { do: "write-deployment" }>,
  holder: SecretHolder,
  ports: OperatorPorts,
): Promise<void> {
  const { pool, workflow, id } = deployment;
  const seal = async (step: StepDeployment): Promise<StepDeployment> => {
    const props = secrets[step.id] ?? "as they are";
    return props === "as they are" ? step : withSecrets(step, await sealProps(pool, holder, props, ports));
  };
  const steps = await Promise.all(deployment.steps.map(seal));
  const entry = { ...deployment, steps, resumeKey: await ports.secrets.sealForPool(pool, resumeKey) };
  if (version !== undefined) {
    await ports.workflowVersions.put(versionKey(workflow, id), version);
    await ports.workflowDeployments.put(deploymentKey(pool, versionName(workflow, id)), entry);
  }
  await ports.workflowDeployments.put(deploymentKey(pool, workflow), entry);
}

function withSecrets({ secrets: _, secretsSeen: _seen, ...step }: StepDeployment, sealed: Pick<StepDeployment, "secrets" | "secretsSeen">) {
  return { ...step, ...sealed };
}

/** Secrets that cannot be read any more are left out: runners take those of the current version for steps that it still has. */
async function copyVersion(
  { version, from, to, resumeKey }: Extract<Step, { do: "copy-version" }>,
  holder: SecretHolder,
  id: string,
  ports: OperatorPorts,
): Promise<void> {
  const { deployment, replacedAt } = version;
  const entry = await ports.workflowDeployments.get(deploymentKey(from, versionName(id, deployment)));
  if (entry === undefined || hasMoved(entry)) return;
  const secretsOf = new Map(version.steps.map((step) => [step.id, step.secrets]));
  const seal = async (step: StepDeployment): Promise<StepDeployment> => {
    const props = await readableProps(holder, secretsOf.get(step.id) ?? {}, ports);
    return withSecrets(step, await sealProps(to, holder, props, ports));
  };
  const steps = await Promise.all(entry.steps.map(seal));
  const moved = { ...entry, pool: to, steps, resumeKey: await ports.secrets.sealForPool(to, resumeKey) };
  const options = replacedAt === undefined ? {} : { ttlSeconds: ttlSeconds(replacedAt, ports.clock.now()) };
  await ports.workflowDeployments.put(deploymentKey(to, versionName(id, deployment)), moved, options);
}

async function readableProps(holder: SecretHolder, props: SecretProps, ports: OperatorPorts): Promise<SecretProps> {
  const read = await trySecretProps(holder, props, ports);
  return "values" in read ? props : (read.without?.props ?? {});
}
