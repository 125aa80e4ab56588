import { workflowKind, type WorkflowResource, type WorkflowSpec, type WorkflowStatus } from "../../crds/workflow.ts";
import { InvalidInput, NotFound } from "../../domain/errors.ts";
import type { ApiContext } from "../context.ts";
import type { Following } from "../resources/watch/following.ts";
import { untilJudged } from "../resources/watch/until-judged.ts";

/** A stored workflow that is not deployed yet. It holds nothing of the request that created or changed it. */
export interface Deployment {
  /** Call only once. @throws as {@link untilDeployed} */
  deployed(): Promise<WorkflowResource>;
}

/** Waits until the operator has deployed the written workflow. @throws InvalidInput when it cannot be deployed; Unavailable when it takes too long; NotFound */
export async function untilDeployed(
  written: WorkflowResource,
  following: Following<WorkflowSpec, WorkflowStatus>,
  { config }: ApiContext,
): Promise<WorkflowResource> {
  const verdict = await untilJudged(written, following, { noun: "workflow", path: "/v1/workflows" }, config.deployTimeoutMs);
  if (verdict.outcome === "ready") return verdict.resource;
  throw new InvalidInput(`the workflow cannot be deployed: ${verdict.message}`, {
    code: "not_deployable",
    details: { reason: verdict.reason },
  });
}

/** Deletes a workflow that cannot be deployed. The operator cleans up in the background. */
export async function discard(namespace: string, name: string, { ports }: ApiContext): Promise<void> {
  await ports.store.delete(workflowKind, namespace, name).catch((error: unknown) => {
    if (!(error instanceof NotFound))
      ports.log.warn({ op: "workflow.discard", namespace, name, err: error }, "a workflow that could not be deployed was not deleted");
  });
}
