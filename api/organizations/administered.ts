import type { ApiContext } from "../context.ts";
import type { Call } from "../http/request/call.ts";
import { pathOf } from "../http/routing/handle.ts";
import { checkAdmin } from "./members.ts";

type Context = Pick<ApiContext, "access" | "ports">;

/** The id of the organization in the path. @throws Forbidden unless the caller is a member */
export async function organizationOf(call: Call, { access }: Context): Promise<string> {
  const id = pathOf(call, "org_id");
  await access.checkOrganization(call.user, id);
  return id;
}

/** The id of the organization in the path. @throws Forbidden unless the caller is its admin */
export async function administeredOrganization(call: Call, context: Context): Promise<string> {
  const id = await organizationOf(call, context);
  await checkAdmin(id, call.user, context.ports.accounts);
  return id;
}
