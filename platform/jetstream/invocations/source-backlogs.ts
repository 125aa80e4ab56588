import { setTimeout as sleep } from "node:timers/promises";
import { decodePack } from "../../../domain/invocation/invocation.ts";
import { Unavailable } from "../../../domain/errors.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { invokeFilter, invokeSubject, packSubject, packToken, streams } from "../../../domain/subjects.ts";
import type { SourceBacklogs } from "../../../operator/ports.ts";
import type { Connection } from "../connection/connection.ts";
import { readBatch } from "../read/read-batch.ts";

/** Maximum age of a count; one that takes long to read is kept longer. */
const maxAgeMs = 1_000;
const keptForReads = 10;
/** Callers wait no longer; the read continues for the next caller. */
const maxWaitMs = 1_000;
/** Packs must be read, because their subjects name no source. The rest of more packs is estimated. */
const maxRead = { messages: 500, bytes: 2 * 1_048_576 };

type Counts = ReadonlyMap<string, number>;

/**
 * Counts stored invocations by source, both queued and running. All callers share one count, which costs one request for the subjects and at
 * most one read of packs, for any number of sources.
 */
export function createSourceBacklogs(connection: Connection): SourceBacklogs {
  let last: { readonly counts: Promise<Counts>; isFresh: () => boolean } | undefined;
  let hasFailed = false;

  function begin(): Promise<Counts> {
    const began = performance.now();
    const read = { counts: readCounts(connection), isFresh: () => true };
    const settle = (failed: boolean) => (): void => {
      hasFailed = failed;
      const ended = performance.now();
      const keptMs = failed ? maxAgeMs : Math.max(maxAgeMs, (ended - began) * keptForReads);
      read.isFresh = () => performance.now() - ended < keptMs;
    };
    read.counts.then(settle(false), settle(true));
    last = read;
    return read.counts;
  }

  return {
    read: async () => {
      const counts = last?.isFresh() === true ? last.counts : begin();
      // While NATS is unavailable, callers do not wait for each new attempt.
      if (hasFailed) throw noAnswer();
      return withinLimit(counts);
    },
  };
}

async function withinLimit(counts: Promise<Counts>): Promise<Counts> {
  const ended = new AbortController();
  const late = sleep(maxWaitMs, undefined, { signal: ended.signal, ref: false }).then(() => {
    throw noAnswer();
  });
  try {
    return await Promise.race([counts, late]);
  } catch (cause) {
    throw cause instanceof Unavailable ? cause : noAnswer(cause);
  } finally {
    late.catch(() => undefined);
    ended.abort();
  }
}

const noAnswer = (cause?: unknown): Unavailable =>
  new Unavailable("the backlogs of sources cannot be read: NATS does not answer, try again in a moment", { cause });

async function readCounts(connection: Connection): Promise<Counts> {
  const queued = await subjectsOf(connection, invokeFilter("*", "*"));
  const packCount = queued.get(packToken) ?? 0;
  const packs = await readPacks(connection, packSubject("*", "*"), packCount);
  const counts = new Map([...queued].filter(([source]) => source !== packToken));
  for (const [source, n] of packs.bySource)
    counts.set(source, (counts.get(source) ?? 0) + Math.max(1, Math.round((n * packCount) / packs.messages)));
  return counts;
}

/** Counts the stored invocations of one source now. With more packs than are read, there may be another one in the rest. */
export async function countQueued(connection: Connection, pool: string, source: string): Promise<number> {
  const partition = partitionOf(source);
  const own = await subjectsOf(connection, invokeSubject(pool, partition, source));
  const packs = (await subjectsOf(connection, packSubject(pool, partition))).get(packToken) ?? 0;
  const { messages, bySource } = await readPacks(connection, packSubject(pool, partition), packs);
  return (own.get(source) ?? 0) + (bySource.get(source) ?? 0) + (packs > messages ? 1 : 0);
}

/** Messages by the fourth token of their subject: a source, or {@link packToken}. */
async function subjectsOf({ manager }: Connection, filter: string): Promise<Map<string, number>> {
  const { state } = await manager.streams.info(streams.invocations, { subjects_filter: filter });
  const counts = new Map<string, number>();
  for (const [subject, messages] of Object.entries(state.subjects ?? {})) {
    const source = subject.split(".")[3] ?? "";
    counts.set(source, (counts.get(source) ?? 0) + messages);
  }
  return counts;
}

interface ReadPacks {
  readonly messages: number;
  readonly bySource: Counts;
}

/** Reads the oldest packs. */
async function readPacks(connection: Connection, filter: string, stored: number): Promise<ReadPacks> {
  const bySource = new Map<string, number>();
  const { messages } = stored === 0 ? { messages: [] } : await readBatch(connection, streams.invocations, { seq: 1, filter, ...maxRead });
  const sources = messages.flatMap((message) => decodePack(message.string()).map(({ source }) => source));
  for (const source of sources) bySource.set(source, (bySource.get(source) ?? 0) + 1);
  return { messages: messages.length, bySource };
}
