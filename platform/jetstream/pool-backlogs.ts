import { partitionCount, runnerConsumer, streams } from "../../domain/subjects.ts";
import type { Backlogs } from "../../operator/runner-pool/ports.ts";
import type { Connection } from "./connection.ts";

/** How old an answer may be. Whoever asks for many pools at once is answered from one list. */
const freshMs = 900;

/**
 * Waiting and unacked invocations of each pool, from one list of all consumers (256 to a page): its cost depends on their number alone.
 */
export function createBacklogs(connection: Connection): Backlogs {
  let last: { readonly at: number; readonly counts: Promise<ReadonlyMap<string, number> | undefined> } | undefined;
  return {
    of: async (pool) => {
      if (last === undefined || performance.now() - last.at > freshMs)
        last = { at: performance.now(), counts: readCounts(connection).catch(() => undefined) };
      const counts = await last.counts;
      return counts === undefined ? undefined : sumOf(pool, counts);
    },
  };
}

async function readCounts(connection: Connection): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for await (const { name, num_pending, num_ack_pending } of connection.manager.consumers.list(streams.invocations))
    counts.set(name, num_pending + num_ack_pending);
  return counts;
}

function sumOf(pool: string, counts: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (let partition = 0; partition < partitionCount; partition++) sum += counts.get(runnerConsumer(pool, partition)) ?? 0;
  return sum;
}
