import { createAccounts } from "../../platform/postgres/accounts/index.ts";
import { updatePermanentAccounts } from "../../platform/process/nats/nats-claims.ts";
import { findNatsKeys } from "../../platform/process/nats/nats-keys.ts";
import type { RoleContext } from "../context.ts";
import { openDatabase } from "../database.ts";
import { seedFirstUser } from "./first-user.ts";
import { asNatsSystem } from "../../platform/process/nats/nats-system.ts";
import { prepare } from "./prepare.ts";

/**
 * Prepares an installation before its roles start, and again before the roles of another version start: permissions, tables, streams, and
 * the first user, whose API key is in the file `api-key` of the keys directory (created if absent). Safe to repeat, to run twice at once,
 * and to run in an older version after a rollback.
 */
export async function setUp(context: RoleContext): Promise<void> {
  await updateRights(context);
  await prepare(context);
  const opened = new AsyncDisposableStack();
  try {
    const database = await openDatabase(context, opened);
    await seedFirstUser(createAccounts(database), context.configuration.owner, context.configuration.keysDirectory);
  } finally {
    await opened.disposeAsync();
  }
  context.logger.info({ op: "process.setup", owner: context.configuration.owner.id }, "tables, streams and the first user exist");
}

/** A running nats-server does not read its configuration again, so it is sent the permissions of this version's roles. */
async function updateRights(context: RoleContext): Promise<void> {
  const { configuration, nats } = context;
  // Only users that we signed have an inbox prefix in this mode. Another server has no accounts of ours.
  const keys =
    nats.inboxPrefix === undefined || configuration.natsAccount !== "own" ? undefined : await findNatsKeys(configuration.keysDirectory);
  if (keys !== undefined) await asNatsSystem(nats, keys, (link) => updatePermanentAccounts(link, keys));
}
