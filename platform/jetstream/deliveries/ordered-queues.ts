import { JetStreamApiError } from "@nats-io/jetstream";
import type { QueueKey, QueueStore, StoredBatch } from "../../../delivery/ordered/ports.ts";
import { deliverSubject, orderedSubject, partsOfOrdered, retrySubject, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { isMessageNotFound, WrongLastSequence } from "../connection/errors.ts";

const stream = streams.deliveries;
const messageIsGone: readonly number[] = [10_037, 10_043, 10_057];

/**
 * The queues of ordered webhooks, which need no consumer. Batches are removed one by one: to purge a subject up to a sequence NATS looks
 * through all blocks of the stream.
 */
export function createOrderedQueueStore({ manager, publisher }: Pick<Connection, "manager" | "publisher">): QueueStore {
  const filterOf = ({ partition, webhook, source }: QueueKey): string => orderedSubject(partition, webhook, source, "*");
  const subjectsOf = async (filter: string): Promise<Readonly<Record<string, number>>> =>
    (await manager.streams.info(stream, { subjects_filter: filter })).state.subjects ?? {};
  return {
    list: async (partition) => {
      const queues = new Map<string, QueueKey>();
      for (const subject of Object.keys(await subjectsOf(orderedSubject(partition, "*", "*", "*")))) {
        const { webhook, source } = partsOfOrdered(subject);
        queues.set(`${webhook} ${source}`, { partition, webhook, source });
      }
      return [...queues.values()];
    },
    findNext: (key, from) => {
      const query = { seq: from, next_by_subj: filterOf(key) };
      return found(manager.streams.getMessage(stream, query));
    },
    findLast: (key) => found(manager.streams.getMessage(stream, { last_by_subj: filterOf(key) })),
    append: async (key, text, count, after) => {
      const subject = orderedSubject(key.partition, key.webhook, key.source, count);
      try {
        return (await publisher.publish(subject, text, { expectedLastSubjectSequence: after, expectedSubject: filterOf(key) })).seq;
      } catch (error) {
        if (error instanceof WrongLastSequence) return undefined;
        throw error;
      }
    },
    remove: async (sequence) => {
      try {
        await manager.streams.deleteMessage(stream, sequence, false);
      } catch (error) {
        if (!(error instanceof JetStreamApiError) || !messageIsGone.includes(error.code)) throw error;
      }
    },
    removeAll: async (partition, webhook) => {
      await manager.streams.purge(stream, { filter: orderedSubject(partition, webhook, "*", "*") });
    },
    listScheduled: async (webhook) => {
      const prefixes = [retrySubject(webhook, ""), deliverSubject(webhook, "")];
      const subjects = await Promise.all(prefixes.map(async (prefix) => Object.keys(await subjectsOf(`${prefix}>`))));
      return new Set(subjects.flatMap((ofKind, index) => ofKind.map((subject) => subject.slice(prefixes[index]?.length))));
    },
  };
}

async function found(requested: Promise<{ readonly seq: number; string(): string } | null>): Promise<StoredBatch | undefined> {
  try {
    const message = await requested;
    return message === null ? undefined : { seq: message.seq, text: message.string() };
  } catch (error) {
    if (isMessageNotFound(error)) return undefined;
    throw error;
  }
}
