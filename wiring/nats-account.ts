import { accountRights, accountRoles } from "../platform/jetstream/connection/account-rights.ts";
import type { Link } from "../platform/jetstream/connection/link.ts";
import { requireRights } from "../platform/jetstream/connection/required-rights.ts";
import type { RoleContext } from "./context.ts";

/** In an account that is not ours, checks the rights of the roles that use this connection. @throws Forbidden */
export async function requireAccountRights({ client, names }: Link, { configuration, nats, natsOf }: RoleContext): Promise<void> {
  const { natsAccount, natsPrefix, setsUp, roles } = configuration;
  if (natsAccount === "own") return;
  const users = setsUp ? (["operator"] as const) : accountRoles.filter((role) => roles.includes(role) && natsOf(role) === nats);
  for (const role of users) await requireRights(client, accountRights(role, names, natsPrefix), `the role ${role}`);
}
