import { orderedSubject, partsOfOrdered, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { doneUpTo, loadFloors, type Floors } from "../runs/floors.ts";

export interface Backlog {
  readonly unrouted: number;
  readonly due: number;
  readonly scheduled: number;
  /** Deliveries in the queues of ordered webhooks. */
  readonly ordered: number;
  readonly unrecorded: number;
}

/**
 * Unfinished work of the delivery role.
 * @param readFloors of RUNS; the default corrects them, as only the delivery role may
 * @throws when NATS does not answer, or the consumer does not exist yet
 */
export async function deliveryBacklog(
  connection: Connection,
  dueConsumer: string,
  readFloors: (connection: Connection) => Promise<Pick<Floors, "routed" | "recorded">> = loadFloors,
): Promise<Backlog> {
  const { manager } = connection;
  const [due, { state }, runs, floors] = await Promise.all([
    manager.consumers.info(streams.deliveries, dueConsumer),
    manager.streams.info(streams.deliveries, { subjects_filter: orderedSubject("*", "*", "*", "*") }),
    manager.streams.info(streams.runs),
    readFloors(connection),
  ]);
  const dueNow = due.num_pending + due.num_ack_pending;
  const { last_seq, messages } = runs.state;
  /** Number of commits from the first unfinished one of any partition on. */
  const countFrom = async (done: readonly number[]): Promise<number> =>
    Math.min(messages, last_seq - (await doneUpTo(connection, done, last_seq)));
  const [unrouted, unrecorded] = await Promise.all([countFrom(floors.routed), countFrom(floors.recorded)]);
  const { batches, ordered } = countOrdered(state.subjects);
  return { unrouted, due: dueNow, scheduled: Math.max(0, state.messages - batches - dueNow), ordered, unrecorded };
}

/** @param subjects numbers of messages by subject */
export function countOrdered(subjects: Readonly<Record<string, number>> = {}): { readonly batches: number; readonly ordered: number } {
  let [batches, ordered] = [0, 0];
  for (const [subject, messages] of Object.entries(subjects)) {
    batches += messages;
    ordered += messages * partsOfOrdered(subject).count;
  }
  return { batches, ordered };
}
