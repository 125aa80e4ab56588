import { streams } from "../../domain/subjects.ts";
import type { Connection } from "./connection.ts";

/** What the delivery role has before it. `recorded`: up to which commit the history has all. @throws when the server does not answer, or its consumers are not there yet */
export async function deliveryBacklog(
  connection: Connection,
  consumers: { readonly router: string; readonly due: string },
  recorded: number,
): Promise<{ readonly unrouted: number; readonly due: number; readonly scheduled: number; readonly unrecorded: number }> {
  const { manager } = connection;
  const [router, due, { state }, runs] = await Promise.all([
    manager.consumers.info(streams.runs, consumers.router),
    manager.consumers.info(streams.deliveries, consumers.due),
    manager.streams.info(streams.deliveries),
    manager.streams.info(streams.runs),
  ]);
  const dueNow = due.num_pending + due.num_ack_pending;
  return {
    unrouted: router.num_pending + router.num_ack_pending,
    due: dueNow,
    scheduled: Math.max(0, state.messages - dueNow),
    unrecorded: Math.max(0, runs.state.last_seq - recorded),
  };
}
