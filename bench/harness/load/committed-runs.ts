import { startChild } from "../child.ts";
import type { ProcessUse } from "../../../test/support/process-tree.ts";
import type { System } from "../system.ts";
import { followRuns, lastRun, pause } from "./runs.ts";
import { until } from "../../../test/support/until.ts";

/** What a system committed while its queue was never empty. */
export interface CommittedRuns {
  readonly perSecond: number;
  readonly runs: number;
  readonly bytes: number;
  readonly before: readonly ProcessUse[];
  readonly after: readonly ProcessUse[];
}

/** Runs these sources for that time, with a queue that is never empty, and then empties it. */
export async function committedRuns(
  system: System,
  ids: readonly string[],
  { perMessage, durationMs }: { readonly perMessage: number; readonly durationMs: number },
): Promise<CommittedRuns> {
  const { connection } = system;
  const feeder = startChild<{ queued: number }>("load/feed", {
    nats: system.nats,
    sources: ids,
    perMessage,
    durationMs: durationMs + 2_500,
  });
  let bytes = 0;
  const following = await followRuns(connection, (_, size) => (bytes = size));
  await until(() => bytes > 0, "the first run of a round is committed");
  await following.stop();
  await pause(1_000); // Until isolates are warm and the queue is deep: a measurement of a steady state.
  const [first, startedAt, before] = [await lastRun(connection), performance.now(), system.cpu()];
  await pause(durationMs);
  const [runs, elapsedMs, after] = [(await lastRun(connection)) - first, performance.now() - startedAt, system.cpu()];
  await feeder.stop();
  await untilDone(system);
  return { perSecond: (runs / elapsedMs) * 1_000, runs, bytes, before, after };
}

/** Runs the remaining invocations too: purging the queue would leave runners waiting for them. */
async function untilDone({ connection }: System): Promise<void> {
  await until(
    async () => (await connection.manager.streams.info("INVOCATIONS")).state.messages === 0,
    "runners finish what is in the queue",
  );
}
