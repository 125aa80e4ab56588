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
   * Bound on unacked messages of a partition. A runner holds all of them until they have run; admission bounds the share of one owner
   * (domain/limits/admission.ts), and the runner stops reading when its memory for them is used up.
   */
  readonly maxAckPending?: number;
}

/** Longer than any run: the reader that opens a partition resets its consumer, and receives all messages that are not acked. */
const ackWaitMs = 3_600_000;
const removeTimeoutMs = 60_000;
const retryMs = 500;

/**
 * Creates the missing consumers of a pool, one for each partition. The runner that pulls from a consumer owns the partition. Safe to repeat.
 *
 * On a single server their state is in memory, and they are created again after a restart of NATS: at the request of the runner that reads
 * (`requestConsumers`), or by the operator that counts the backlog (`pool-backlogs.ts`). On several servers it is on disk (decision 0052).
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
 * Removes a pool without deployed sources: moves its queued invocations to the pools of their sources, then deletes its consumers and
 * entries. Safe to repeat. @throws Conflict while a source is deployed in it, Unavailable when it does not empty in time
 */
export async function removePool(connection: Connection, pool: string): Promise<void> {
  const deployed = [...(await deploymentEntries(connection).list(`${pool}.>`)).values()].filter((entry) => !hasMoved(entry));
  const [first] = deployed;
  if (first !== undefined)
    throw new Conflict(`pool '${pool}' still runs ${deployed.length} source(s), ${first.source} among them: move them first`, {
      code: "pool_in_use",
    });
  // The messages of a partition are read, to be moved, with its consumer.
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
    // One at a time, so that the invocations of a source keep their order.
    onMessage: (message) => {
      moved = moved.then(() => moveUntilAborted(connection, pool, message, emptying.signal));
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

/** Never rejects. A message that cannot be moved before the signal aborts is not acked. */
async function moveUntilAborted(connection: Connection, pool: string, message: StreamMessage, signal: AbortSignal): Promise<void> {
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
