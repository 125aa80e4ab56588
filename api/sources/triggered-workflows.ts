import { workflowKind, type WorkflowResource, type WorkflowSpec } from "../../crds/workflow.ts";
import { Conflict, NotFound } from "../../domain/errors.ts";
import type { ApiPorts } from "../ports.ts";
import { changeResource } from "../resources/change.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { SourceResource } from "../resources/source.ts";
import { findUsers, idsOf, namedUsers } from "../resources/users-of.ts";

type Ports = Pick<ApiPorts, "pages" | "store">;

/** @throws Conflict while triggers of workflows in its namespace name the source */
export async function refuseWhileTriggering(source: SourceResource, ports: Ports): Promise<void> {
  const workflows = await triggeredBy(source, ports);
  if (workflows.length === 0) return;
  throw new Conflict(
    `source ${publicIdOf(source)} triggers ${namedUsers(workflows)}: remove the trigger there, delete them, or delete the source anyway with force=true, which removes the trigger`,
    { code: "source_in_use", details: { workflows: idsOf(workflows) } },
  );
}

/** Removes the triggers that name the source from the workflows of its namespace. Those of other owners keep them, and report that it is gone. */
export async function removeTriggers(source: SourceResource, ports: Ports): Promise<void> {
  for (const workflow of await triggeredBy(source, ports, Number.POSITIVE_INFINITY))
    await changeResource(workflowKind, ports.store, workflow, ({ spec }) => ({
      ...spec,
      triggers: spec.triggers.filter((trigger) => !names(trigger, source)),
    })).catch((error: unknown) => {
      if (!(error instanceof NotFound)) throw error; // Deleted in the meantime.
    });
}

async function triggeredBy(source: SourceResource, ports: Ports, max?: number): Promise<readonly WorkflowResource[]> {
  const { namespace, name } = source.metadata;
  const uses = ({ spec }: WorkflowResource): boolean => spec.triggers.some((trigger) => names(trigger, source));
  // By id, and by the name of the resource as with kubectl.
  const found = await Promise.all(
    [publicIdOf(source), `"${name}"`].map((mentions) => findUsers(workflowKind, { namespace, mentions, uses }, ports, max)),
  );
  return [...new Map(found.flat().map((workflow) => [workflow.metadata.uid, workflow])).values()];
}

const names = (trigger: WorkflowSpec["triggers"][number], source: SourceResource): boolean =>
  trigger.source === publicIdOf(source) || trigger.sourceRef?.name === source.metadata.name;
