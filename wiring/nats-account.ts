import { accountRights } from "../platform/jetstream/connection/account-rights.ts";
import type { Link } from "../platform/jetstream/connection/link.ts";
import { requireRights } from "../platform/jetstream/connection/required-rights.ts";
import { accountUsersOf } from "../platform/process/nats/given-nats.ts";
import type { RoleContext } from "./context.ts";

/** In an account that is not ours, checks the rights of the users of this connection. @throws Forbidden */
export async function requireAccountRights({ client, names }: Link, { configuration, nats, natsOf }: RoleContext): Promise<void> {
  const { natsAccount, natsPrefix } = configuration;
  if (natsAccount === "own") return;
  for (const role of accountUsersOf(configuration)) {
    if (role !== "backup" && natsOf(role) !== nats) continue; // Another connection.
    await requireRights(client, accountRights(role, names, natsPrefix), `the role ${role}`);
  }
}
