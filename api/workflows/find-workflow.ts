import { workflowKind, type WorkflowResource } from "../../crds/workflow.ts";
import type { ApiContext } from "../context.ts";
import type { Call } from "../http/request/call.ts";
import { pathOf } from "../http/routing/handle.ts";
import { publicIdOf } from "../resources/identity.ts";

/** The workflow in the path, if the caller may see it. @throws NotFound */
export const workflowOf = (call: Call, { access }: ApiContext): Promise<WorkflowResource> =>
  access.get(workflowKind, "workflow", pathOf(call, "workflow_id"), call.user);

/** Its id, for its history. @throws NotFound */
export const workflowIdOf = async (call: Call, { access }: ApiContext): Promise<string> =>
  publicIdOf(await access.getListed(workflowKind, "workflow", pathOf(call, "workflow_id"), call.user));
