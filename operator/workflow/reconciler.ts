import { workflowKind } from "../../crds/workflow.ts";
import { parseKey } from "../controller/informer.ts";
import { adopt, release } from "../controller/ownership.ts";
import { readyConditions, writeStatus } from "../controller/status.ts";
import type { EndConnections } from "../end-connections.ts";
import { idOf, namespaceHasNoOwner } from "../identity.ts";
import { ownerRetryMs } from "../polling.ts";
import type { OperatorPorts } from "../ports.ts";

const notExecuted = {
  ready: false,
  reason: "NotExecutedYet",
  message: "this version of Headwater does not run workflows: its events are queued",
} as const;

/**
 * Gives a workflow its id, which subscriptions use, and reports that it does not run. Its queue is deleted with it. Deleting a subscription
 * keeps the queue: those events were delivered.
 */
export function workflowReconciler(ports: OperatorPorts, endConnections: EndConnections = () => Promise.resolve()) {
  return async (key: string): Promise<number | undefined> => {
    const { namespace, name } = parseKey(key);
    const found = await ports.store.find(workflowKind, namespace, name);
    if (found === undefined) return;
    const id = await idOf(ports, workflowKind, found, "workflow");
    if (found.metadata.deletionTimestamp !== undefined) {
      await endConnections(found); // First: they fill its queue.
      await ports.workflowQueues.end(id);
      await release(ports.store, workflowKind, found);
      return;
    }
    const workflow = await adopt(ports.store, workflowKind, found, id);
    const hasOwner = (await ports.owners.ownerOf(namespace)) !== undefined;
    const verdict = hasOwner ? notExecuted : namespaceHasNoOwner(namespace);
    await writeStatus(ports.store, workflowKind, workflow, {
      fields: { id },
      conditions: readyConditions(verdict),
      now: ports.clock.now(),
    });
    return hasOwner ? undefined : ownerRetryMs;
  };
}
