import type { Resource } from "../../crds/resource.ts";
import type { WorkflowSpec, WorkflowStatus } from "../../crds/workflow.ts";
import { createdAt, publicIdOf } from "../resources/identity.ts";
import type { Answered } from "../resources/response.ts";
import { ownerField } from "../resources/owner-field.ts";
import { readText } from "../resources/stored-fields.ts";
import type { workflowSchema } from "../resources/schemas.ts";

export type WorkflowResource = Resource<WorkflowSpec, WorkflowStatus>;

/** A workflow. The specification gives it no fields but the id. */
export function workflowResponse(workflow: WorkflowResource, owner: string | undefined): Answered<typeof workflowSchema> {
  return {
    id: publicIdOf(workflow),
    ...ownerField(owner),
    name: readText(workflow.spec.name) ?? workflow.metadata.name,
    active: workflow.spec.active,
    created_at: createdAt(workflow),
  };
}
