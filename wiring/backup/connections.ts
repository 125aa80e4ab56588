import { Invariant } from "../../domain/errors.ts";
import { connect, type Connection } from "../../platform/jetstream/connection/connection.ts";
import { waitForJetStream } from "../../platform/jetstream/connection/wait-for-jetstream.ts";
import type { BackupDatabase } from "../../platform/postgres/backup.ts";
import type { RoleContext } from "../context.ts";

const timeoutMs = 60_000;

export async function withNats<Result>(context: RoleContext, run: (connection: Connection) => Promise<Result>): Promise<Result> {
  const connection = await connect({ server: context.nats, name: "headwater backup", requestTimeoutMs: timeoutMs });
  try {
    await waitForJetStream(connection, timeoutMs);
    return await run(connection);
  } finally {
    await connection.close();
  }
}

export function backupDatabaseOf({ databaseUrl: url, configuration }: RoleContext): BackupDatabase {
  if (url === undefined) throw new Invariant("a backup needs Postgres and was given no DATABASE_URL");
  return { url, tls: configuration.databaseTls, throughPooler: configuration.databasePooler === "transaction" };
}
