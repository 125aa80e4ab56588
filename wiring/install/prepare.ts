import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Invariant } from "../../domain/errors.ts";
import { defaultPool, partitionCount } from "../../domain/subjects.ts";
import { connect } from "../../platform/jetstream/connection/connection.ts";
import { setUpStreams } from "../../platform/jetstream/streams/streams.ts";
import { waitForJetStream } from "../../platform/jetstream/connection/wait-for-jetstream.ts";
import { storeBytesOf } from "../../platform/process/nats/store-size.ts";
import { parseRolePasswords, setUpRoles, type RolePasswords } from "../../platform/postgres/roles.ts";
import type { RoleContext } from "../context.ts";
import { databaseOf } from "../database.ts";

const setUpTimeoutMs = 60_000;

/** Makes or changes streams, buckets and tables, so that every role finds what it needs. */
export async function prepare(context: RoleContext): Promise<void> {
  const connection = await connect({ server: context.nats, name: "headwater set-up", requestTimeoutMs: setUpTimeoutMs });
  const replicas = context.configuration.natsReplicas;
  try {
    await waitForJetStream(connection, setUpTimeoutMs);
    const storeBytes = await storeBytesOf(context.configuration);
    const onNoRoom = (stream: string): void =>
      context.logger.warn(
        { op: "nats.store", stream, storeBytes },
        "the limit of a stream stays as it is, since the store of NATS is full or smaller than HEADWATER_STORE_SIZE: it drains as runs are delivered and recorded, or make HEADWATER_STORE_SIZE and the disk larger",
      );
    await setUpStreams(connection, { replicas, partitions: partitionCount, pool: defaultPool, storeBytes, onNoRoom });
  } finally {
    await connection.close();
  }
  if (context.databaseUrl === undefined) return;
  const { database, release } = await databaseOf(context);
  try {
    const passwords = context.databasePasswords ?? (await givenPasswords(context));
    if (passwords !== undefined) await setUpRoles(database.db, passwords);
  } finally {
    await release();
  }
}

/** Whoever sets up an installation is given the passwords of the roles' users beside the keys. */
async function givenPasswords(context: RoleContext): Promise<RolePasswords | undefined> {
  if (!context.configuration.setsUp) return undefined;
  const file = join(context.configuration.keysDirectory, "database-passwords.json");
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new Invariant(`${file} cannot be read: ${error.code}`, { cause: error });
  });
  return text === undefined ? undefined : parseRolePasswords(text);
}
