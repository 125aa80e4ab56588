import { ok, type Handle } from "../http/call.ts";
import type { ApiContext } from "./context.ts";

const dayMs = 86_400_000;

/** The caller (specification, "User", free-plan form). Compute time is in milliseconds. */
export function userRoutes({ config, ports }: ApiContext): Record<"me", Handle> {
  return {
    me: async ({ user }) => {
      const now = ports.clock.now();
      const [organizations, used] = await Promise.all([
        ports.accounts.organizationsOf(user.id),
        ports.history.readUsage(user.id, now - (now % dayMs)),
      ]);
      return ok({
        id: user.id,
        username: user.username,
        email: user.email,
        orgs: organizations.map(({ name, id, orgname, email }) => ({ name, id, orgname, email })),
        daily_compute_time_quota: config.quotas.computeMs,
        daily_compute_time_used: Math.round(used.computeMs),
        daily_invocations_quota: config.quotas.invocations,
        daily_invocations_used: used.runs,
      });
    },
  };
}
