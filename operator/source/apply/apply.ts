import { holderOf } from "../../../crds/secret-values.ts";
import { sourceKind, type SourceResource } from "../../../crds/source.ts";
import { assertNever } from "../../../domain/errors.ts";
import { deploymentKey } from "../../../domain/subjects.ts";
import { setConditions } from "../../controller/conditions.ts";
import { adopt, release } from "../../controller/ownership.ts";
import { takeId } from "../../identity.ts";
import { tickOf } from "../../tick.ts";
import type { OperatorPorts } from "../../ports.ts";
import { healthFields } from "../health.ts";
import { removeComponent, writeComponent } from "../../configured/own-component.ts";
import { sealProps } from "../../configured/secret-props.ts";
import { withFields, type Claim, type StatusFields, type Step } from "../plan/step.ts";

/** A step that only writes and completes at once. The reconciler runs the others. */
export type Applied = Exclude<Step, { do: "run-hook" | "reload-props" | "end-connections" | "await-queue" }>;

/** Applies one step. Idempotent: entries and timers are replaced. @returns the updated resource */
export async function apply(step: Applied, source: SourceResource, ports: OperatorPorts): Promise<SourceResource> {
  switch (step.do) {
    case "adopt":
      return identify(step, source, ports);
    case "claim":
      return report(source, claimFields(step), ports);
    case "claim-props":
      return report(source, { configurableProps: step.props, configurableFor: step.digest }, ports);
    case "report":
      return report(source, reportedFields(step, source, ports.clock.now()), ports);
    case "release":
      return release(ports.store, sourceKind, source);
    case "record-event":
      ports.events.record(source, { type: step.type, reason: step.reason, message: step.message });
      return source;
    default:
      await act(step, source, ports);
      return source;
  }
}

type Action = Exclude<Applied, { do: "adopt" | "claim" | "claim-props" | "report" | "release" | "record-event" }>;

async function act(step: Action, source: SourceResource, ports: OperatorPorts): Promise<void> {
  switch (step.do) {
    case "write-component":
      return writeComponent(step, source, ports);
    case "remove-component":
      return removeComponent(step.name, source, ports);
    case "end-timers":
      return ports.timers.end(step.source);
    case "write-deployment":
      return writeDeployment(step, source, ports);
    case "set-timer":
      return ports.timers.set(step.pool, step.source, step.prop, step.schedule, tickOf(step, ports.clock.now()));
    case "write-endpoint":
      return ports.endpoints.put(step.key, step.endpoint);
    case "remove-endpoint":
      return ports.endpoints.delete(step.key);
    case "keep-version":
      return ports.versions.put(step.version.deployment.source, step.version);
    case "forget-version":
      return ports.versions.delete(step.source);
    case "remove-deployment":
      return ports.deployments.delete(deploymentKey(step.pool, step.source));
    case "leave-pool":
      return ports.deployments.put(deploymentKey(step.pool, step.source), { source: step.source, movedTo: step.movedTo });
    case "settle-secrets": {
      const { namespace, name, uid } = source.metadata;
      return ports.secretValues.settle({ kind: sourceKind.kind, namespace, name, uid, generation: step.generation }, step.references);
    }
    case "forget-history":
      return ports.histories.forget(step.owner, step.source);
    default:
      return assertNever(step);
  }
}

function reportedFields({ fields, conditions }: Extract<Step, { do: "report" }>, source: SourceResource, now: number): StatusFields {
  const reported = { ...fields, conditions: setConditions(source.status.conditions ?? [], conditions, now) };
  return { ...reported, ...healthFields(source, withFields(source.status, reported)) };
}

async function identify(
  { id: desired, claim }: Extract<Step, { do: "adopt" }>,
  source: SourceResource,
  ports: OperatorPorts,
): Promise<SourceResource> {
  // A copied source carries the original's label, and two sources must not share an id.
  const id = source.status.id ?? ((await takeId(ports, sourceKind, source, desired)) ? desired : ports.newId("source"));
  const adopted = await adopt(ports.store, sourceKind, source, id);
  if (source.status.id === id && claim === undefined) return adopted;
  return report(adopted, { id, ...(claim === undefined ? {} : claimFields(claim)) }, ports);
}

function claimFields({ nameSlug, pool, endpointKey }: Claim): StatusFields {
  return { nameSlug, pool, ...(endpointKey === undefined ? {} : { endpointKey }) };
}

function report(source: SourceResource, fields: StatusFields, ports: OperatorPorts): Promise<SourceResource> {
  return ports.store.updateStatus(sourceKind, { ...source, status: withFields(source.status, fields) });
}

async function writeDeployment(
  { deployment, secrets }: Extract<Step, { do: "write-deployment" }>,
  { metadata }: SourceResource,
  ports: OperatorPorts,
): Promise<void> {
  const key = deploymentKey(deployment.pool, deployment.source);
  if (secrets === "as they are") return ports.deployments.put(key, deployment);
  const { secretsSeen: _, ...unsealed } = deployment;
  return ports.deployments.put(key, {
    ...unsealed,
    ...(await sealProps(deployment.pool, holderOf(sourceKind, { metadata }), secrets, ports)),
  });
}
