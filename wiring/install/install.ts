import { createAccounts } from "../../platform/postgres/accounts/index.ts";
import { updatePermanentAccounts } from "../../platform/process/nats/nats-claims.ts";
import { findNatsKeys } from "../../platform/process/nats/nats-keys.ts";
import type { RoleContext } from "../context.ts";
import { databaseOf } from "../database.ts";
import { seedFirstUser } from "./first-user.ts";
import { asNatsSystem } from "./nats-system.ts";
import { prepare } from "./prepare.ts";

/**
 * What is done once before the roles of an installation start, and again before those of another version do: rights, tables, streams, the
 * first user with the API key in the keys directory's file `api-key` (made there when it is absent). Safe to repeat, to run twice
 * at once, and to run again in an older version after a rollback.
 */
export async function setUp(context: RoleContext): Promise<void> {
  await updateRights(context);
  await prepare(context);
  const { database, release } = await databaseOf(context);
  try {
    await seedFirstUser(createAccounts(database), context.configuration.owner, context.configuration.keysDirectory);
  } finally {
    await release();
  }
  context.logger.info({ op: "process.setup", owner: context.configuration.owner.id }, "tables, streams and the first user are there");
}

/** A running server reads its configuration no more, so it is told what the roles of this version may do. */
async function updateRights(context: RoleContext): Promise<void> {
  const { configuration, nats } = context;
  // Only a user whom we signed has an inbox of its own; whoever else lets us in does not know our accounts.
  const keys = nats.inboxPrefix === undefined ? undefined : await findNatsKeys(configuration.keysDirectory);
  if (keys !== undefined) await asNatsSystem(context, keys, (link) => updatePermanentAccounts(link, keys));
}
