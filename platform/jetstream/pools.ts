import { setTimeout as sleep } from "node:timers/promises";
import { hasMoved } from "../../domain/deployment.ts";
import { Conflict, Unavailable } from "../../domain/errors.ts";
import { partitionWindow } from "../../domain/partition.ts";
import { buckets, invokeFilter, partitionCount, runnerConsumer, streams } from "../../domain/subjects.ts";
import type { Connection } from "./connection.ts";
import { queueConsumer, readPartition } from "./consumer.ts";
import { createOrUpdateConsumer } from "./durable.ts";
import { isMissing } from "./missing.ts";
import { deploymentEntries, moveAll } from "./moves.ts";
import type { StreamMessage } from "./stream-message.ts";

export interface PoolOptions {
  readonly pool: string;
  readonly partitions?: number;
  /**
   * Messages of a partition handed out and not acked. A runner holds all of them until they have run; admission bounds how many there
   * are of one owner (domain/admission.ts), and the runner stops reading when its memory for them is used up.
   */
  readonly maxAckPending?: number;
}

/** Never by time: whoever opens a partition resets its consumer, and is handed all that is not acked. */
const ackWaitMs = 3_600_000;
const removeTimeoutMs = 60_000;
const retryMs = 500;

/** One durable consumer per partition: whoever pulls from it owns the partition. Safe to repeat. */
export async function setUpPool(connection: Connection, options: PoolOptions): Promise<void> {
  const { partitions = partitionCount, pool, maxAckPending = partitionWindow } = options;
  const consumers = Array.from({ length: partitions }, (_, partition) =>
    queueConsumer(runnerConsumer(pool, partition), { filter: invokeFilter(pool, partition), ackWaitMs, maxAckPending }),
  );
  await Promise.all(consumers.map((consumer) => createOrUpdateConsumer(connection, streams.invocations, consumer)));
}

/** For a runner, which cannot make them: resolves when the pool's consumers are there. @throws Unavailable after `timeoutMs` */
export async function untilPoolIsSetUp(connection: Connection, pool: string, timeoutMs = 30_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (let partition = 0; partition < partitionCount;) {
    if (await hasConsumer(connection, runnerConsumer(pool, partition))) partition++;
    else if (performance.now() < deadline) await sleep(250);
    else throw new Unavailable(`pool '${pool}' is not set up: the operator does that when a RunnerPool of that name exists`);
  }
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
  const left = Array.from({ length: partitionCount }, (_, partition) => partition);
  await Promise.all(left.map((partition) => emptyPartition(connection, pool, partition)));
  await connection.manager.streams.purge(`KV_${buckets.deployments}`, { filter: `$KV.${buckets.deployments}.${pool}.>` });
}

async function emptyPartition(connection: Connection, pool: string, partition: number): Promise<void> {
  const consumer = runnerConsumer(pool, partition);
  if (!(await hasConsumer(connection, consumer))) return;
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
  while (!signal.aborted) {
    try {
      await moveAll(connection, pool, { seq, storedAt, text: message.text() });
      return message.ack();
    } catch {
      await sleep(retryMs);
    }
  }
}

async function untilEmpty(connection: Connection, consumer: string): Promise<void> {
  const deadline = performance.now() + removeTimeoutMs;
  for (;;) {
    const { num_pending, num_ack_pending } = await connection.manager.consumers.info(streams.invocations, consumer);
    if (num_pending + num_ack_pending === 0) return;
    if (performance.now() > deadline)
      throw new Unavailable(
        `${num_pending + num_ack_pending} message(s) of ${consumer} could not be moved within ${removeTimeoutMs / 1000} s`,
      );
    await sleep(100);
  }
}

async function hasConsumer({ manager }: Connection, consumer: string): Promise<boolean> {
  try {
    await manager.consumers.info(streams.invocations, consumer);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
