import { workflowKind } from "../../crds/workflow.ts";
import { readyConditions, writeStatus } from "../controller/status.ts";
import { findIdentified, lookForOwnerMs, namespaceHasNoOwner } from "../identity.ts";
import type { OperatorPorts } from "../ports.ts";

const notExecuted = {
  ready: false,
  reason: "NotExecutedYet",
  message: "it has its id and can be subscribed, and this version of Headwater does not run its steps: what it hears is kept",
} as const;

/** Gives a workflow its id, by which it is subscribed, and says that it does not run. */
export function workflowReconciler(ports: OperatorPorts) {
  return async (key: string): Promise<number | undefined> => {
    const found = await findIdentified(ports, workflowKind, key, "workflow");
    if (found === undefined) return;
    const { id, resource: workflow, hasOwner } = found;
    const verdict = hasOwner ? notExecuted : namespaceHasNoOwner(workflow.metadata.namespace);
    await writeStatus(ports.store, workflowKind, workflow, {
      fields: { id },
      conditions: readyConditions(verdict),
      now: ports.clock.now(),
    });
    return hasOwner ? undefined : lookForOwnerMs;
  };
}
