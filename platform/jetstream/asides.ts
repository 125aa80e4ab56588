import { encodePack, type Invocation, type InvocationNumber } from "../../domain/invocation.ts";
import { HeadwaterError, Unavailable } from "../../domain/errors.ts";
import { partitionOf } from "../../domain/partition.ts";
import { asideFilter, asideSubject, runnerConsumer, streams } from "../../domain/subjects.ts";
import type { AsideMessage, AsidePart, LaidAside } from "../../runner/ports.ts";
import type { Connection } from "./connection.ts";
import { moveAll } from "./moves.ts";
import { WrongLastSequence } from "./publish-errors.ts";
import { readBatch } from "./read-batch.ts";

/**
 * Invocations that lie aside, done for runners by whoever may write INVOCATIONS.
 *
 * The window of a partition counts what was given back (pools.ts), so the backlog of one owner must leave it: a copy is stored where
 * no consumer looks, and the runner acks the original. A copy keeps its invocations' numbers (moves.ts), and its subject ends with the
 * sequence of the original: it is stored once, however often it is asked for, for as long as it lies there. By then the source's
 * history has the number.
 */
interface Copy {
  readonly subject: string;
  readonly indexes: readonly number[];
  readonly text: string;
}

/** What lies aside is a pack as any other, with what it was cut from. */
interface AsidePack {
  readonly invocations: readonly Invocation[];
  readonly indexes: readonly number[];
  /** Epoch ms. */
  readonly storedAt: number;
}

/** What an answer has besides the messages. */
const answerBytes = 4_096;
const takenBytes = 512 * 1_024;

/** Several parts of a message, or of many, in this order. @throws Unavailable when it is not known what became of some */
export async function layAside(connection: Connection, pool: string, parts: readonly AsidePart[]): Promise<readonly LaidAside[]> {
  const originals = new Map([...new Set(parts.map(({ seq }) => seq))].map((seq) => [seq, readOriginal(connection, pool, seq)]));
  const copies = await Promise.all(parts.map(async (part) => copyOf(pool, part, await originals.get(part.seq))));
  return Promise.all(copies.map((copy, at) => store(connection, copy, parts[at]?.indexes ?? [])));
}

interface Original {
  readonly partition: string;
  readonly storedAt: number;
  readonly invocations: readonly Invocation[];
}

/** Undefined when it is gone, or is none of the pool's: the subject shows that, whoever asks. */
async function readOriginal({ manager }: Connection, pool: string, seq: number): Promise<Original | undefined> {
  const message = await manager.direct.getMessage(streams.invocations, { seq });
  const [kind, of, partition = ""] = message?.subject.split(".") ?? [];
  if (message === null || kind !== "invoke" || of !== pool) return undefined;
  return { partition, storedAt: message.time.getTime(), invocations: packOf(message.string()).invocations };
}

function copyOf(pool: string, { seq, source, indexes }: AsidePart, original: Original | undefined): Copy | undefined {
  if (original === undefined) return undefined;
  const { partition, storedAt, invocations } = original;
  const held = indexes.filter((index) => invocations[index]?.source === source);
  const copies = held.flatMap((index) => invocations.slice(index, index + 1).map((each) => kept(each, { seq, index }, storedAt)));
  const pack = encodePack(copies.map((each) => JSON.stringify(each)));
  const about = JSON.stringify({ indexes: held, storedAt });
  return { subject: asideSubject(pool, Number(partition), source, seq), indexes: held, text: `${pack.slice(0, -1)},${about.slice(1)}` };
}

/** It is as old as it was, and answered under the same number. */
const kept = (invocation: Invocation, position: InvocationNumber, storedAt: number): Invocation => ({
  ...invocation,
  at: invocation.at ?? storedAt,
  movedFrom: invocation.movedFrom ?? position,
});

async function store(connection: Connection, copy: Copy | undefined, asked: readonly number[]): Promise<LaidAside> {
  if (copy === undefined) return { indexes: asked, at: 0 };
  const { subject, indexes, text } = copy;
  const most = (connection.nats.info?.max_payload ?? Number.POSITIVE_INFINITY) - answerBytes;
  // It could not be told in an answer any more.
  if (indexes.length === 0 || Buffer.byteLength(text) > most) return { indexes: [], at: 0 };
  try {
    // Sent again when the server comes back, it must not be stored after what was stored the first time has been run and cleared.
    const messageId = `${subject}.${indexes.join("-")}`;
    const { seq, duplicate } = await connection.publisher.publish(subject, text, { messageId, expectedLastSubjectSequence: 0 });
    return { indexes, at: duplicate ? 0 : seq };
  } catch (error) {
    if (error instanceof WrongLastSequence) return await findLaid(connection, subject, indexes);
    if (error instanceof HeadwaterError && !(error instanceof Unavailable)) return { indexes: [], at: 0 };
    throw error;
  }
}

/** What an earlier request, whose answer was lost or whose runner has died, has laid there. */
async function findLaid({ manager }: Connection, subject: string, indexes: readonly number[]): Promise<LaidAside> {
  const laid = await manager.direct.getMessage(streams.invocations, { last_by_subj: subject });
  if (laid === null) return { indexes: [], at: 0 };
  const there = packOf(laid.string()).indexes;
  return { indexes: indexes.filter((index) => there.includes(index)), at: 0 };
}

interface TakeAside {
  readonly source: string;
  readonly after: number;
  readonly most: number;
  /** Tell of each whether the message from which it was laid aside may still be handed out. */
  readonly isChecked?: boolean;
}

export async function takeAside(
  connection: Connection,
  pool: string,
  { source, after, most, isChecked = false }: TakeAside,
): Promise<{ readonly messages: readonly AsideMessage[]; readonly isLast: boolean }> {
  const filter = asideFilter(pool, partitionOf(source), source);
  const found = await readBatch(connection, streams.invocations, { seq: after + 1, filter, messages: most, bytes: takenBytes });
  const messages = found.messages.map((message) => {
    const text = message.string();
    return { text, seq: message.seq, from: Number(message.subject.split(".").at(-1)), isLeft: false, storedAt: packOf(text).storedAt };
  });
  return { messages: isChecked ? await withWhatIsLeft(connection, pool, source, messages) : messages, isLast: found.isLast };
}

async function withWhatIsLeft(
  { manager }: Connection,
  pool: string,
  source: string,
  messages: readonly AsideMessage[],
): Promise<readonly AsideMessage[]> {
  const isThere = async ({ from }: AsideMessage) => (await manager.direct.getMessage(streams.invocations, { seq: from })) !== null;
  const there = await Promise.all(messages.map(isThere));
  if (!there.includes(true)) return messages;
  // A server that was killed may keep what it takes for acked, and never hands it out.
  const { ack_floor } = await manager.consumers.info(streams.invocations, runnerConsumer(pool, partitionOf(source)));
  return messages.map((message, at) => ({ ...message, isLeft: there[at] === true && message.from > ack_floor.stream_seq }));
}

export async function clearAside(
  { manager }: Connection,
  pool: string,
  { source, upTo }: { readonly source: string; readonly upTo: number },
): Promise<void> {
  await manager.streams.purge(streams.invocations, { filter: asideFilter(pool, partitionOf(source), source), seq: upTo + 1 });
}

/** Messages by source. The server lists each subject by itself: with 50,000 of them it takes 0.2 s. */
export async function listAsides(connection: Connection, pool: string, partition: number): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const [, , , source = ""] of await asideSubjects(connection, asideFilter(pool, partition)))
    counts.set(source, (counts.get(source) ?? 0) + 1);
  return counts;
}

/** Messages that lie aside, by pool. */
export async function countAsides(connection: Connection): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const [, pool = ""] of await asideSubjects(connection, asideFilter())) counts.set(pool, (counts.get(pool) ?? 0) + 1);
  return counts;
}

async function asideSubjects({ manager }: Connection, filter: string): Promise<readonly (readonly string[])[]> {
  const { state } = await manager.streams.info(streams.invocations, { subjects_filter: filter });
  return Object.keys(state.subjects ?? {}).map((subject) => subject.split("."));
}

const movedAtOnce = 64;

/** For a pool that ends: whatever lies aside follows its source. */
export async function moveAsides(connection: Connection, pool: string, partition: number): Promise<void> {
  for (const source of (await listAsides(connection, pool, partition)).keys())
    for (let isLast = false; !isLast;) {
      const taken = await takeAside(connection, pool, { source, after: 0, most: movedAtOnce });
      for (const message of taken.messages) await moveAll(connection, pool, message);
      const last = taken.messages.at(-1);
      if (last !== undefined) await clearAside(connection, pool, { source, upTo: last.seq });
      isLast = taken.isLast;
    }
}

/** Written above, or by those who write invocations. */
const packOf = (text: string): AsidePack => JSON.parse(text) as AsidePack;
