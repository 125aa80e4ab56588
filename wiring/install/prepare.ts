import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Invariant } from "../../domain/errors.ts";
import { defaultPool, partitionCount } from "../../domain/subjects.ts";
import { connect } from "../../platform/jetstream/connection/connection.ts";
import { requireAccountRoom } from "../../platform/jetstream/streams/account-limits.ts";
import { setUpStreams } from "../../platform/jetstream/streams/streams.ts";
import { waitForJetStream } from "../../platform/jetstream/connection/wait-for-jetstream.ts";
import { storeBytesOf } from "../../platform/process/nats/store-size.ts";
import { parseRolePasswords, setUpRoles, type RolePasswords } from "../../platform/postgres/roles.ts";
import type { RoleContext } from "../context.ts";
import { openDatabase } from "../database.ts";

const setUpTimeoutMs = 60_000;

/** Creates or updates streams, buckets and tables for the roles of this version. */
export async function prepare(context: RoleContext): Promise<void> {
  const connection = await connect({ server: context.nats, name: "headwater set-up", requestTimeoutMs: setUpTimeoutMs });
  const replicas = context.configuration.natsReplicas;
  try {
    await waitForJetStream(connection, setUpTimeoutMs);
    const storeBytes = await storeBytesOf(context.configuration);
    if (context.configuration.natsAccount !== "own") await requireAccountRoom(connection, { replicas, storeBytes });
    const onNoRoom = (stream: string): void =>
      context.logger.warn(
        { op: "nats.store", stream, storeBytes },
        "the limit of a stream is unchanged, because the store of NATS is full or smaller than HEADWATER_STORE_SIZE: it drains as runs are delivered and recorded, or make HEADWATER_STORE_SIZE and the disk larger",
      );
    await setUpStreams(connection, { replicas, partitions: partitionCount, pool: defaultPool, storeBytes, onNoRoom });
  } finally {
    await connection.close();
  }
  if (context.databaseUrl === undefined) return;
  const opened = new AsyncDisposableStack();
  try {
    const database = await openDatabase(context, opened);
    const passwords = context.databasePasswords ?? (await readPasswords(context));
    if (passwords !== undefined) await setUpRoles(database.db, passwords);
  } finally {
    await opened.disposeAsync();
  }
}

/** Setup reads the passwords of the roles' users from the keys directory. */
async function readPasswords(context: RoleContext): Promise<RolePasswords | undefined> {
  if (!context.configuration.setsUp) return undefined;
  const file = join(context.configuration.keysDirectory, "database-passwords.json");
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new Invariant(`${file} cannot be read: ${error.code}`, { cause: error });
  });
  return text === undefined ? undefined : parseRolePasswords(text);
}
