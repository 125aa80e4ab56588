import { z } from "zod";
import type { WorkflowResource } from "../../crds/workflow.ts";
import { createdAt, publicIdOf } from "../resources/identity.ts";
import type { Answered } from "../http/response/answered.ts";
import { ownerField } from "../resources/owner-field.ts";
import { readText } from "../resources/stored-fields.ts";
import { ownerId, seconds } from "../resources/schemas.ts";

export const workflowSchema = z
  .object({ id: z.string().describe("`p_…`."), owner_id: ownerId, name: z.string(), active: z.boolean(), created_at: seconds })
  .meta({ id: "Workflow" });

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
