import { workflowKind, type WorkflowResource } from "../../crds/workflow.ts";
import type { ApiContext } from "../context.ts";
import { unlessDeleted } from "../resources/change.ts";

/** Deletes the workflow and waits for that, up to a limit; the deletion continues afterwards. @throws NotFound */
export async function deleteWorkflow({ metadata }: WorkflowResource, { config, ports, workflows }: ApiContext): Promise<void> {
  const { namespace, name } = metadata;
  const following = workflows.follow(namespace, name);
  try {
    await unlessDeleted(ports.store.delete(workflowKind, namespace, name));
    await following.until((seen) => (seen === undefined ? true : undefined), AbortSignal.timeout(config.deletionTimeoutMs));
  } finally {
    following.end();
  }
}
