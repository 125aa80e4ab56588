import { partitionCount, runnerConsumer, streams } from "../../../domain/subjects.ts";
import type { Backlogs } from "../../../operator/runner-pool/ports.ts";
import type { Connection } from "../connection/connection.ts";
import { setUpPool } from "./pool-consumers.ts";

/** Maximum age of the counts: requests for many pools share one list. */
const maxAgeMs = 900;

const partitions = Array.from({ length: partitionCount }, (_, partition) => partition);

/** Queued and unacked messages of each pool, from one list of all consumers (256 per page). */
export function createBacklogs(connection: Connection): Backlogs {
  let last: { readonly at: number; readonly counts: Promise<ReadonlyMap<string, number> | undefined> } | undefined;
  return {
    of: async (pool) => {
      if (last === undefined || performance.now() - last.at > maxAgeMs)
        last = { at: performance.now(), counts: readCounts(connection).catch(() => undefined) };
      const counts = await last.counts;
      if (counts === undefined) return undefined;
      const ofPool = partitions.map((partition) => counts.get(runnerConsumer(pool, partition)));
      if (ofPool.every((count) => count !== undefined)) return ofPool.reduce((sum, count) => sum + count, 0);
      // NATS has restarted, and no runner of the pool is running that would have its consumers created again.
      last = undefined;
      await setUpPool(connection, { pool }).catch(() => undefined); // The next call tries again.
      return undefined;
    },
  };
}

async function readCounts(connection: Connection): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for await (const { name, num_pending, num_ack_pending } of connection.manager.consumers.list(streams.invocations))
    counts.set(name, num_pending + num_ack_pending);
  return counts;
}
