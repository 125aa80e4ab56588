import { streams } from "../../../domain/subjects.ts";
import { doneUpTo } from "../../../platform/jetstream/runs/floors.ts";
import { createDatabase } from "../../../platform/postgres/connection.ts";
import { createHistory } from "../../../platform/postgres/history/index.ts";
import { lastRun, until } from "./runs.ts";
import type { System } from "../system.ts";

/** Waits until everything committed so far is recorded in Postgres. */
export async function recordedUpTo({ connection, databaseUrl }: Pick<System, "connection" | "databaseUrl">): Promise<void> {
  const database = createDatabase({ url: databaseUrl });
  try {
    const history = createHistory(database);
    const stream = `${streams.runs}@${(await connection.manager.streams.info(streams.runs)).created}`;
    const last = await lastRun(connection);
    const isRecorded = async () => (await doneUpTo(connection, await history.readPositions(stream), last)) >= last;
    await until(isRecorded, "the recorder catches up", 60_000, 100);
  } finally {
    await database.close();
  }
}
