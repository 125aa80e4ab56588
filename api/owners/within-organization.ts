import type { Request } from "express";
import { InvalidInput } from "../../domain/errors.ts";
import type { ApiContext, ApiOperation } from "../context.ts";
import { signedIn } from "../http/access/authentication.ts";
import type { Acting } from "../resources/access.ts";

/**
 * Returns the operation, limited to the organization in `org_id` (or `workspace_id`), which every operation takes: an organization that is
 * unknown, not the caller's, or not the owner of the resource in the path, is an error.
 */
export function withinOrganization(operation: ApiOperation): ApiOperation {
  const { handle, respond } = operation;
  if (handle !== undefined)
    return { ...operation, handle: async (call, context) => handle(call, await contextWithin(call, call.path["org_id"], context)) };
  if (respond === undefined) return operation;
  return {
    ...operation,
    respond: async (request, response, context) => {
      const call = { user: signedIn(response).user, parameters: request.query };
      await respond(request, response, await contextWithin(call, organizationIn(request), context));
    },
  };
}

function organizationIn({ params }: Request): string | undefined {
  const organization = params["org_id"];
  return typeof organization === "string" ? organization : undefined;
}

/** @param inPath the organization in the path, if it has one @throws InvalidInput, Forbidden, NotFound */
async function contextWithin(call: Acting, inPath: string | undefined, context: ApiContext): Promise<ApiContext> {
  const organization = await context.access.organization(call);
  if (organization === undefined) return context;
  if (inPath !== undefined && inPath !== organization)
    throw new InvalidInput(`org_id ${organization} differs from the organization in the path, ${inPath.slice(0, 80)}: leave out org_id`);
  return { ...context, access: context.access.within(organization) };
}
