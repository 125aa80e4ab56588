import { hasMoved } from "../../../domain/source/deployment.ts";
import { Conflict, Unavailable } from "../../../domain/errors.ts";
import { retry, waitUntil } from "../../../domain/retry.ts";
import { partitionWindow } from "../../../domain/invocation/partition.ts";
import { buckets, invokeFilter, partitionCount, runnerConsumer, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { readPartition } from "../read/partition-reader.ts";
import { queueConsumer } from "../read/queue-reader.ts";
import { createOrUpdateConsumer } from "../read/durable-consumer.ts";
import { isMissing } from "../connection/errors.ts";
import { deploymentEntries, moveAll } from "./moves.ts";
import type { StreamMessage } from "../read/stream-message.ts";

export interface PoolOptions {
  readonly pool: string;
  readonly partitions?: number;
  /**
   * Messages of a partition handed out and not acked. A runner holds all of them until they have run; admission bounds how many there
   * are of one owner (domain/limits/admission.ts), and the runner stops reading when its memory for them is used up.
   */
  readonly maxAckPending?: number;
}

/** Never by time: whoever opens a partition resets its consumer, and is handed all that is not acked. */
const ackWaitMs = 3_600_000;
const removeTimeoutMs = 60_000;
const retryMs = 500;

/**
 * Creates the consumers of a pool, one for each partition, or those of them that are missing. The runner that pulls from a consumer owns the
 * partition. Safe to repeat.
 *
 * On a single server their state is in memory: on disk, NATS would write it ten times a second for each partition. When NATS restarts they are
 * gone, and are created again by the runner that reads (`requestConsumers`) or by the operator that counts the backlog (pool-backlogs.ts). No
 * position is lost with them: the stream holds what is not acked, and opening a partition resets its consumer anyway. On several servers it is
 * on disk: a replica that restarts without its state could lead, and delete what nobody has acked.
 */
export async function setUpPool(connection: Connection, options: PoolOptions): Promise<void> {
  const { partitions = partitionCount, pool, maxAckPending = partitionWindow } = options;
  const { config } = await connection.manager.streams.info(streams.invocations);
  const consumers = Array.from({ length: partitions }, (_, partition) => ({
    ...queueConsumer(runnerConsumer(pool, partition), { filter: invokeFilter(pool, partition), ackWaitMs, maxAckPending }),
    mem_storage: config.num_replicas === 1,
  }));
  await Promise.all(consumers.map((consumer) => createOrUpdateConsumer(connection, streams.invocations, consumer)));
}

/**
 * Ends a pool that no source is deployed in any more: moves what still waits there after its source, then takes consumers and
 * entries away. Safe to repeat. @throws Conflict while a source is deployed in it, Unavailable when it does not empty in time
 */
export async function removePool(connection: Connection, pool: string): Promise<void> {
  const deployed = [...(await deploymentEntries(connection).list(`${pool}.>`)).values()].filter((entry) => !hasMoved(entry));
  const [first] = deployed;
  if (first !== undefined)
    throw new Conflict(`pool '${pool}' still runs ${deployed.length} source(s), ${first.source} among them: move them first`, {
      code: "pool_in_use",
    });
  // Without its consumer, a partition's messages could not be moved.
  await setUpPool(connection, { pool });
  const left = Array.from({ length: partitionCount }, (_, partition) => partition);
  await Promise.all(left.map((partition) => emptyPartition(connection, pool, partition)));
  await connection.manager.streams.purge(`KV_${buckets.deployments}`, { filter: `$KV.${buckets.deployments}.${pool}.>` });
}

async function emptyPartition(connection: Connection, pool: string, partition: number): Promise<void> {
  const consumer = runnerConsumer(pool, partition);
  const emptying = new AbortController();
  let moved: Promise<unknown> = Promise.resolve();
  const reading = await readPartition({
    connection,
    pool,
    partition,
    // One after the other: a source's invocations keep their order.
    onMessage: (message) => {
      moved = moved.then(() => moveSurely(connection, pool, message, emptying.signal));
    },
  });
  try {
    await untilEmpty(connection, consumer);
  } finally {
    emptying.abort();
    await reading.stop();
    await moved;
  }
  await connection.manager.consumers.delete(streams.invocations, consumer);
}

/** Never rejects. What could not be moved until the signal aborts is not acked. */
async function moveSurely(connection: Connection, pool: string, message: StreamMessage, signal: AbortSignal): Promise<void> {
  const { seq, storedAt } = message;
  if (signal.aborted) return;
  const move = async (): Promise<void> => {
    await moveAll(connection, pool, { seq, storedAt, text: message.text() });
    message.ack();
  };
  await retry(move, { firstMs: retryMs, signal }).catch(() => undefined); // Aborted.
}

async function untilEmpty(connection: Connection, consumer: string): Promise<void> {
  let left = 0;
  const isEmpty = async (): Promise<boolean> => {
    const { num_pending, num_ack_pending } = await connection.manager.consumers.info(streams.invocations, consumer);
    left = num_pending + num_ack_pending;
    return left === 0;
  };
  if (await waitUntil(isEmpty, removeTimeoutMs, 100)) return;
  throw new Unavailable(`${left} message(s) of ${consumer} could not be moved within ${removeTimeoutMs / 1000} s`);
}

/** Does the consumer exist? @throws when NATS does not answer */
export async function hasConsumer({ manager }: Connection, consumer: string): Promise<boolean> {
  try {
    await manager.consumers.info(streams.invocations, consumer);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
