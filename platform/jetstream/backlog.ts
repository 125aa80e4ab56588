import { runnerConsumer, streams } from "../../domain/subjects.ts";
import type { Connection } from "./connection.ts";

/** Of a partition's messages, by their sequence: the last one that was handed out, and the last one up to which all are acked. */
export async function partitionProgress(
  connection: Connection,
  pool: string,
  partition: number,
): Promise<{ readonly handedOut: number; readonly settled: number }> {
  const { delivered, ack_floor } = await connection.manager.consumers.info(streams.invocations, runnerConsumer(pool, partition));
  return { handedOut: delivered.stream_seq, settled: ack_floor.stream_seq };
}
