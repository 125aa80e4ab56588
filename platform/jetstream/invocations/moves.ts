import { hasMoved, type DeploymentEntry } from "../../../domain/source/deployment.ts";
import type { WorkflowEntry } from "../../../domain/workflow/deployment.ts";
import { Conflict } from "../../../domain/errors.ts";
import { decodePack, encodePack, type Invocation, type InvocationNumber } from "../../../domain/invocation/invocation.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { buckets, deploymentKey, invokeSubject, streams } from "../../../domain/subjects.ts";
import type { QueuePosition } from "../../../domain/invocation/watermark.ts";
import { Bucket } from "../buckets/bucket.ts";
import type { Connection } from "../connection/connection.ts";

/**
 * Moves an invocation to the pool that its source runs in now. It keeps the position that it had in the old pool's queue, by which the
 * source's history recognizes it (domain/invocation/watermark.ts). So any process may move it, repeatedly, even while a runner of the old
 * pool commits it.
 */
export async function moveInvocation(connection: Connection, pool: string, position: InvocationNumber): Promise<void> {
  const message = await connection.manager.direct.getMessage(streams.invocations, { seq: position.seq });
  // Without a message it was moved or answered already. The subject shows that it belongs to the pool of the caller.
  if (message === null || !isOfPool(pool, message.subject)) return;
  const invocation = decodePack(message.string())[position.index];
  if (invocation !== undefined) await move(connection, invocation, { ...position, pool, storedAt: message.time.getTime() });
}

const isOfPool = (pool: string, subject: string): boolean => subject.startsWith(`invoke.${pool}.`);

/** Moves all invocations of a message. Those of deleted sources are dropped. */
export async function moveAll(
  connection: Connection,
  pool: string,
  { seq, storedAt, text }: { readonly seq: number; readonly storedAt: number; readonly text: string },
): Promise<void> {
  for (const [index, invocation] of decodePack(text).entries()) await move(connection, invocation, { pool, seq, index, storedAt });
}

async function move(connection: Connection, invocation: Invocation, position: QueuePosition): Promise<void> {
  const { source } = invocation;
  const { pool } = position;
  const entry = await deploymentEntries(connection).get(deploymentKey(pool, source));
  if (entry === undefined) return;
  if (!hasMoved(entry))
    throw new Conflict(`source ${source} has not left pool '${pool}': its invocations stay there`, { code: "not_moved" });
  const moved: Invocation = { ...invocation, movedFrom: position };
  await connection.publisher.publish(invokeSubject(entry.movedTo, partitionOf(source), source), encodePack([JSON.stringify(moved)]), {
    messageId: `moved.${position.seq}.${position.index}`,
  });
}

/** Deployment entries of all pools. The operator writes them from typed values. */
export const deploymentEntries = (connection: Connection): Bucket<DeploymentEntry> =>
  new Bucket<DeploymentEntry>(connection, buckets.deployments, (json) => json as DeploymentEntry);

/** The same entries, read as those of workflows. */
export const workflowEntries = (connection: Connection): Bucket<WorkflowEntry> =>
  new Bucket<WorkflowEntry>(connection, buckets.deployments, (json) => json as WorkflowEntry);
