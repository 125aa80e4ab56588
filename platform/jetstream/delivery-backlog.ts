import { streams } from "../../domain/subjects.ts";
import type { Connection } from "./connection.ts";
import { loadFloors } from "./floors.ts";

/** What the delivery role has before it. @throws when the server does not answer, or the consumer is not there yet */
export async function deliveryBacklog(
  connection: Connection,
  dueConsumer: string,
): Promise<{ readonly unrouted: number; readonly due: number; readonly scheduled: number; readonly unrecorded: number }> {
  const { manager } = connection;
  const [due, { state }, runs, floors] = await Promise.all([
    manager.consumers.info(streams.deliveries, dueConsumer),
    manager.streams.info(streams.deliveries),
    manager.streams.info(streams.runs),
    loadFloors(connection),
  ]);
  const dueNow = due.num_pending + due.num_ack_pending;
  const above = (floor: number): number => Math.min(runs.state.messages, Math.max(0, runs.state.last_seq - floor));
  return {
    unrouted: above(floors.routed),
    due: dueNow,
    scheduled: Math.max(0, state.messages - dueNow),
    unrecorded: above(floors.recorded),
  };
}
