import type { Resource } from "../../crds/resource.ts";
import { assertNever } from "../../domain/errors.ts";
import { deploymentKey } from "../../domain/subjects.ts";
import { removeComponent, writeComponent } from "../configured/own-component.ts";
import { release } from "../controller/ownership.ts";
import { withFields } from "../controller/status.ts";
import type { OperatorPorts } from "../ports.ts";
import { tickOf } from "../tick.ts";
import type { AnyObserved, Deployable, DeployableStatus } from "./deployable.ts";
import { reportedStatus } from "./report.ts";
import type { WrittenStep } from "./step.ts";

/** Applies one step. Idempotent: entries and timers are replaced. @returns the updated resource */
export async function apply<S, T extends DeployableStatus, O extends AnyObserved, Own extends { readonly do: string }>(
  step: WrittenStep<T>,
  resource: Resource<S, T>,
  id: string,
  deployable: Deployable<S, T, O, Own>,
  ports: OperatorPorts,
): Promise<Resource<S, T>> {
  const { store, clock, events } = ports;
  const { kind, healthOf } = deployable;
  switch (step.do) {
    case "claim":
      return store.updateStatus(kind, { ...resource, status: withFields(resource.status, step.fields) });
    case "report":
      return store.updateStatus(kind, { ...resource, status: reportedStatus(resource, healthOf, step, clock.now()) });
    case "release":
      return release(store, kind, resource);
    case "record-event":
      events.record(resource, { type: step.type, reason: step.reason, message: step.message });
      return resource;
    default:
      await act(step, resource, id, deployable, ports);
      return resource;
  }
}

type Action = Exclude<WrittenStep<never>, { do: "claim" | "report" | "release" | "record-event" }>;

async function act(
  step: Action,
  resource: Resource,
  id: string,
  { kind: { kind }, entries }: Pick<Deployable<never, never, never, never>, "entries"> & { readonly kind: { readonly kind: string } },
  ports: OperatorPorts,
): Promise<void> {
  switch (step.do) {
    case "write-component":
      return writeComponent(step, resource, ports);
    case "remove-component":
      return removeComponent(step.name, resource, ports);
    case "set-timer":
      return ports.timers.set(step.pool, id, step.prop, step.schedule, tickOf(step, ports.clock.now()));
    case "end-timers":
      return ports.timers.end(id);
    case "write-endpoint":
      return ports.endpoints.put(step.key, step.endpoint);
    case "remove-endpoint":
      return ports.endpoints.delete(step.key);
    case "remove-deployment":
      return entries.delete(deploymentKey(step.pool, id));
    case "leave-pool":
      return entries.put(deploymentKey(step.pool, id), { source: id, movedTo: step.movedTo });
    case "settle-secrets": {
      const { namespace, name, uid, generation } = resource.metadata;
      return ports.secretValues.settle({ kind, namespace, name, uid, generation }, step.references);
    }
    case "forget-history":
      return ports.histories.forget(step.owner, id);
    default:
      return assertNever(step);
  }
}
