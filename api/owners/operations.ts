import { ok, type Call } from "../http/request/call.ts";
import { describeUse } from "./use.ts";
import type { ApiContext } from "../context.ts";

/** The caller (specification, "User"), in the form of their plan. */
export function userRoutes({ ports }: Pick<ApiContext, "ports">) {
  return {
    me: async ({ user }: Call) => {
      const { id, username, email } = user;
      const [organizations, plan] = await Promise.all([ports.accounts.organizationsOf(id), ports.accounts.planOf(id)]);
      const orgs = organizations.map(({ name, id, orgname, email }) => ({ name, id, orgname, email }));
      return ok({ id, username, email, orgs, ...(await describeUse(id, plan, ports)) });
    },
  };
}
