import { doneUpTo, readFloors } from "../../../platform/jetstream/runs/floors.ts";
import { lastRun } from "./runs.ts";
import { until } from "../../../test/support/until.ts";
import type { System } from "../system.ts";

/** Waits until everything committed so far is recorded in Postgres. */
export async function recordedUpTo({ connection }: Pick<System, "connection">): Promise<void> {
  const last = await lastRun(connection);
  const isRecorded = async () => (await doneUpTo(connection, (await readFloors(connection))?.recorded ?? [], last)) >= last;
  await until(isRecorded, "the recorder catches up");
}
