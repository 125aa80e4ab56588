import type { LagReport } from "../../../api/admin/ports.ts";
import { Unavailable } from "../../../domain/errors.ts";
import { invokeFilter, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { deliveryBacklog } from "./delivery-backlog.ts";
import { readBatch } from "../read/read-batch.ts";
import { readFloors } from "../runs/floors.ts";

/** Reads how far runs, routing, deliveries and the recorder are behind. @throws before delivery has started, or when NATS does not respond */
export async function readLag(connection: Connection, dueConsumer: string): Promise<LagReport> {
  const [backlog, oldestInvocationAt] = await Promise.all([
    deliveryBacklog(connection, dueConsumer, publishedFloors),
    oldestInvocation(connection),
  ]);
  return { ...backlog, oldestInvocationAt };
}

/** Only the delivery role writes floors. */
async function publishedFloors(connection: Connection) {
  const floors = await readFloors(connection);
  if (floors === undefined) throw new Unavailable("delivery has not started yet");
  return floors;
}

/** NATS deletes an invocation once its run has ended. */
async function oldestInvocation(connection: Connection): Promise<number | null> {
  const { messages } = await readBatch(connection, streams.invocations, { seq: 1, filter: invokeFilter("*", "*"), messages: 1, bytes: 1 });
  return messages[0]?.time.getTime() ?? null;
}
