import type { QueuedDelivery, WaitingEvents, Workflows } from "../../../delivery/destinations/ports.ts";
import { bytesOfClass, sizeClassOf } from "../../../domain/limits/size-class.ts";
import { partsOfWaiting, streams, waitingFilter, waitingOfOwner, waitingSubject, waitingWithoutOwner } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { isMessageNotFound } from "../connection/errors.ts";
import { sharedUsage } from "../streams/stream-limits.ts";

const stream = streams.workflows;

/** Reads from the leader of the stream: a replica of it may not know the newest delivery of a queue yet. */
export const createWorkflowQueues = ({ publisher, manager }: Pick<Connection, "publisher" | "manager">): Workflows => ({
  store: async ({ workflow, owner }, delivery, messageId) => {
    const subject = waitingSubject(workflow, owner, sizeClassOf(Buffer.byteLength(delivery)));
    await publisher.publish(subject, delivery, { messageId });
  },
  waiting: async (owner) => {
    const info = await manager.streams.info(stream, { subjects_filter: waitingOfOwner(owner) });
    return { usage: sharedUsage(info), ...sumOf(info.state.subjects ?? {}) };
  },
  listQueued: async () => {
    const { state } = await manager.streams.info(stream, { subjects_filter: ">" });
    return [...new Set(Object.keys(state.subjects ?? {}).map((subject) => partsOfWaiting(subject).workflow))];
  },
  findNext: async (workflow, from) => {
    for (const filter of filtersOf(workflow)) {
      const found = await nextOf(filter, from, manager);
      if (found !== undefined) return found;
    }
    return undefined;
  },
  removeUpTo: async (workflow, sequence) => {
    await Promise.all(filtersOf(workflow).map((filter) => manager.streams.purge(stream, { filter, seq: sequence + 1 })));
  },
});

/** @param subjects numbers of messages by subject */
function sumOf(subjects: Readonly<Record<string, number>>): Pick<WaitingEvents, "bytes" | "counts"> {
  const counts = new Map<string, number>();
  let bytes = 0;
  for (const [subject, count] of Object.entries(subjects)) {
    const { workflow, sizeClass } = partsOfWaiting(subject);
    counts.set(workflow, (counts.get(workflow) ?? 0) + count);
    bytes += count * bytesOfClass(sizeClass);
  }
  return { bytes, counts };
}

/** Deletes the queue of a workflow. */
export async function endWorkflowQueue(connection: Connection, workflow: string): Promise<void> {
  for (const filter of filtersOf(workflow)) await connection.manager.streams.purge(stream, { filter });
}

/** Events that were stored before their subjects had an owner are the oldest. */
const filtersOf = (workflow: string): readonly string[] => [waitingWithoutOwner(workflow), waitingFilter(workflow)];

async function nextOf(filter: string, from: number, manager: Connection["manager"]): Promise<QueuedDelivery | undefined> {
  try {
    const query = { seq: from, next_by_subj: filter };
    const message = await manager.streams.getMessage(stream, query);
    return message === null ? undefined : { sequence: message.seq, text: message.string() };
  } catch (error) {
    if (isMessageNotFound(error)) return undefined;
    throw error;
  }
}
