import { runnerConsumer, streams } from "../../domain/subjects.ts";
import type { Connection } from "./connection.ts";

/** Messages of a partition that no runner has finished: waiting, or handed out and not acked. @throws when the server does not answer */
export async function partitionDepth(connection: Connection, pool: string, partition: number): Promise<number> {
  const { num_pending, num_ack_pending } = await connection.manager.consumers.info(streams.invocations, runnerConsumer(pool, partition));
  return num_pending + num_ack_pending;
}
