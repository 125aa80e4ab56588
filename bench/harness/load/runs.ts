import type { Commit } from "../../../domain/run/commit.ts";
import { encodePack, type Invocation } from "../../../domain/invocation/invocation.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { defaultPool, invokeSubject, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../../../platform/jetstream/connection/connection.ts";
import { followFrom } from "../../../platform/jetstream/read/follow.ts";
import { until } from "../../../test/support/until.ts";

export const lastRun = async ({ manager }: Connection): Promise<number> => (await manager.streams.info(streams.runs)).state.last_seq;

/** Invocations of one source in one message. */
export async function invoke(connection: Connection, source: string, invocations: readonly Invocation[]): Promise<void> {
  await connection.publisher.publish(
    invokeSubject(defaultPool, partitionOf(source), source),
    encodePack(invocations.map((invocation) => JSON.stringify(invocation))),
  );
}

/** Commits from now on, as they come. */
export async function followRuns(
  connection: Connection,
  onCommit: (commit: Commit, bytes: number) => void,
): Promise<{ stop(): Promise<void> }> {
  return followFrom({
    connection,
    stream: streams.runs,
    from: "new",
    onMessage: (message) => onCommit(JSON.parse(message.text()) as Commit, message.data.length),
  }); // Written by a runner.
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Each source once, 50 at a time: what memory a burst of cold starts takes is another question. */
export async function runOnce(connection: Connection, ids: readonly string[]): Promise<void> {
  const awaited = new Set(ids);
  const following = await followRuns(connection, ({ source }) => awaited.delete(source));
  for (let start = 0; start < ids.length; start += 50) {
    const some = ids.slice(start, start + 50);
    await Promise.all(some.map((id) => invoke(connection, id, [{ source: id, trigger: "manual", at: Date.now(), event: {} }])));
    await until(() => some.every((id) => !awaited.has(id)), "each source has run once", { maxPauseMs: 20 });
  }
  await following.stop();
}
