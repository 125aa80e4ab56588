import { sourceKind } from "../../crds/source.ts";
import { workflowKind } from "../../crds/workflow.ts";
import { kindOfId } from "../../domain/ids.ts";
import type { User } from "../http/ports.ts";
import type { Access } from "./access.ts";

/** Whether the user may see the source or workflow that has emitted something. False if it was deleted. */
export async function maySeeEmitter(access: Access, id: string, user: User): Promise<boolean> {
  const kind = kindOfId(id);
  if (kind === "workflow") return (await access.findListed(workflowKind, kind, id, user)) !== undefined;
  return kind === "source" && (await access.findListed(sourceKind, kind, id, user)) !== undefined;
}
