import { JetStreamApiError } from "@nats-io/jetstream";
import type { QueueMessage, QueueStore } from "../../../delivery/ordered/ports.ts";
import { isLaterState, type QueueState } from "../../../domain/delivery/ordered-queue.ts";
import { retry } from "../../../domain/retry.ts";
import { buckets, lineSubject, streams } from "../../../domain/subjects.ts";
import { Bucket } from "../buckets/bucket.ts";
import type { Connection } from "../connection/connection.ts";
import { isMessageNotFound } from "../connection/errors.ts";
import { WrongLastSequence } from "../connection/errors.ts";
import { identityOf } from "../streams/stream-identity.ts";
import { sharedUsage } from "../streams/stream-limits.ts";

const stream = streams.ordered;
const [maxConflicts, conflictPauseMs] = [20, 10] as const;
const messageIsGone: readonly number[] = [10_037, 10_043, 10_057];
/** Removals that wait for the server's word at a time. */
const removedAtOnce = 50;

/**
 * Lines of ordered webhooks: a subject of the stream ORDERED for each, an entry of the bucket LINES for how far it has come. Messages are
 * removed one by one: to purge a subject up to a sequence the server looks through all blocks of the stream, those of others as well.
 */
export function createOrderedQueueStore(connection: Connection): QueueStore {
  const { manager, publisher } = connection;
  // Only the delivery role writes entries, from typed values.
  const states = new Bucket<QueueState>(connection, buckets.lines, (json) => json as QueueState);
  return {
    load: async () => {
      const info = await manager.streams.info(stream, { subjects_filter: lineSubject(">") });
      const prefix = lineSubject("").length;
      const stored = Object.keys(info.state.subjects ?? {}).map((subject) => subject.slice(prefix));
      return { stream: identityOf(info), stored, states: await states.list(">") };
    },
    // Of the leader's copy: what is stored behind it must be behind the last one.
    findLast: (webhook) => found(manager.streams.getMessage(stream, { last_by_subj: lineSubject(webhook) })),
    findNext: (webhook, from) => found(manager.direct.getMessage(stream, { seq: Math.max(1, from), next_by_subj: lineSubject(webhook) })),
    append: async (webhook, text, behind) => {
      try {
        return (await publisher.publish(lineSubject(webhook), text, { expectedLastSubjectSequence: behind })).seq;
      } catch (error) {
        if (error instanceof WrongLastSequence) return undefined;
        throw error;
      }
    },
    remove: async (_webhook, sequences) => {
      for (let start = 0; start < sequences.length; start += removedAtOnce)
        await Promise.all(sequences.slice(start, start + removedAtOnce).map((sequence) => remove(connection, sequence)));
    },
    removeBefore: async (webhook, sequence) => {
      await manager.streams.purge(stream, { filter: lineSubject(webhook), seq: sequence });
    },
    saveState: async (webhook, state) => {
      const putUnlessBehind = async (): Promise<QueueState | undefined> => {
        const { value, revision } = await states.read(webhook);
        if (value !== undefined && isLaterState(value, state)) return value;
        await states.put(webhook, state, { expectedRevision: revision });
        return undefined;
      };
      // A former owner has written, or the copy that was read is behind.
      const isTransient = (error: unknown): boolean => error instanceof WrongLastSequence;
      return retry(putUnlessBehind, { firstMs: conflictPauseMs, maxAttempts: maxConflicts + 1, isTransient });
    },
    usage: async () => sharedUsage(await manager.streams.info(stream)),
    deleteQueue: async (webhook) => {
      await manager.streams.purge(stream, { filter: lineSubject(webhook) });
      await states.delete(webhook);
    },
  };
}

async function found(asked: Promise<{ readonly seq: number; string(): string } | null>): Promise<QueueMessage | undefined> {
  try {
    const message = await asked;
    return message === null ? undefined : { seq: message.seq, text: message.string() };
  } catch (error) {
    if (isMessageNotFound(error)) return undefined;
    throw error;
  }
}

async function remove({ manager }: Connection, sequence: number): Promise<void> {
  try {
    await manager.streams.deleteMessage(stream, sequence, false);
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || !messageIsGone.includes(error.code)) throw error;
  }
}
