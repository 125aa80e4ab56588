import { z } from "zod";
import { buckets, partitionCount, runsOfPartition, streams } from "../../../domain/subjects.ts";
import { Bucket } from "../buckets/bucket.ts";
import type { Connection } from "../connection/connection.ts";
import { isMessageNotFound, isMissing } from "../connection/errors.ts";
import { WrongLastSequence } from "../connection/errors.ts";
import { identityOf } from "../streams/stream-identity.ts";

/** For each partition of RUNS, the sequence up to which every commit is routed, and recorded. Floors only grow (decision 0014). */
export interface Floors {
  /** Identity of RUNS: an earlier stream of this name had the same sequences. */
  readonly stream: string;
  readonly routed: readonly number[];
  readonly recorded: readonly number[];
}

export type FloorKind = "routed" | "recorded";

const sequence = z.int().min(0);
const sequences = z.array(sequence).length(partitionCount);
/**
 * The numbers outside `partitions` apply to all partitions: an older version reads and writes only these. `ordered`, of another one, is the
 * sequence up to which commits are routed to ordered webhooks.
 */
const floorsEntry = z.object({
  stream: z.string(),
  routed: sequence,
  recorded: sequence,
  partitions: z.object({ routed: sequences, recorded: sequences, ordered: z.array(sequence).length(1).optional() }).optional(),
});
/** The only key of the bucket FLOORS. */
const entryKey = "delivery";
/** The durable consumer of the router of an older version, which had no floors. */
const formerConsumer = "router";

const ofAll = (floor: number): readonly number[] => Array.from({ length: partitionCount }, () => floor);

function parseFloors(json: unknown): Floors {
  const { stream, routed, recorded, partitions } = floorsEntry.parse(json);
  const [ordered = Number.POSITIVE_INFINITY] = partitions?.ordered ?? [];
  return {
    stream,
    routed: (partitions?.routed ?? ofAll(routed)).map((floor) => Math.min(floor, ordered)),
    recorded: partitions?.recorded ?? ofAll(recorded),
  };
}

const entriesOf = (connection: Connection): Bucket<Floors> => new Bucket(connection, buckets.floors, parseFloors);

/** For runners. Undefined before delivery has published floors. @throws Unavailable */
export const readFloors = (connection: Connection): Promise<Floors | undefined> => entriesOf(connection).get(entryKey);

/** The floors from which delivery continues reading the present RUNS. */
export async function loadFloors(connection: Connection): Promise<Floors> {
  const info = await connection.manager.streams.info(streams.runs);
  const stream = identityOf(info);
  const { value, revision } = await entriesOf(connection).read(entryKey);
  if (value?.stream !== stream) {
    const routed = await formerFloor(connection);
    return { stream, routed: ofAll(routed), recorded: ofAll(0) };
  }
  const known = (floor: number): number => Math.min(floor, info.state.last_seq);
  const { routed, recorded } = value;
  const floors = { stream, routed: routed.map(known), recorded: recorded.map(known) };
  // A server that lost its newest commits assigns their sequences again: a floor must not be above the last one.
  if (!isSame(floors, value)) await putFloors(connection, floors, revision);
  return floors;
}

async function formerFloor({ manager }: Connection): Promise<number> {
  try {
    return (await manager.consumers.info(streams.runs, formerConsumer)).ack_floor.stream_seq;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}

/** The higher floor of each partition. */
export function higherFloors(one: Floors, other: Floors): Floors {
  const higher = (kind: FloorKind) => one[kind].map((floor, partition) => Math.max(floor, other[kind][partition] ?? 0));
  return { stream: one.stream, routed: higher("routed"), recorded: higher("recorded") };
}

/** Bound on retries when other replicas change the entry at the same time. */
const maxConflicts = 10;

/**
 * Publishes floors, from which other replicas continue. The entry is set to the higher floors of both, by compare-and-set: floors are facts,
 * so publishing late or twice is harmless. @throws Unavailable
 */
export async function publishFloors(connection: Connection, floors: Floors): Promise<void> {
  const entries = entriesOf(connection);
  for (let conflicts = 0; ; conflicts++) {
    const { value, revision } = await entries.read(entryKey);
    const merged = value?.stream === floors.stream ? higherFloors(value, floors) : floors;
    if (value !== undefined && isSame(value, merged)) return;
    try {
      return await putFloors(connection, merged, revision);
    } catch (error) {
      if (!(error instanceof WrongLastSequence) || conflicts === maxConflicts) throw error;
    }
  }
}

/** @throws WrongLastSequence when the entry has another revision */
async function putFloors({ publisher }: Connection, floors: Floors, revision: number): Promise<void> {
  await publisher.publish(`$KV.${buckets.floors}.${entryKey}`, encodeFloors(floors), { expectedLastSubjectSequence: revision });
}

function encodeFloors({ stream, routed, recorded }: Floors): string {
  const lowest = { routed: Math.min(...routed), recorded: Math.min(...recorded) };
  return JSON.stringify({ stream, ...lowest, partitions: { routed, recorded } });
}

export const isSame = (one: Floors, other: Floors): boolean => encodeFloors(one) === encodeFloors(other);

/**
 * The highest sequence, at most `upTo`, up to which all partitions are done. A partition without commits between its floor and `upTo` is
 * done: it may be idle for days. @throws when NATS does not answer
 */
export async function doneUpTo(connection: Connection, floors: readonly number[], upTo: number): Promise<number> {
  let done = upTo;
  // Lowest first: usually no further lookup is necessary.
  const lowestFirst = floors.map((floor, partition) => ({ floor, partition })).sort((a, b) => a.floor - b.floor);
  for (const { floor, partition } of lowestFirst) {
    if (floor >= done) break;
    done = Math.min(done, ((await firstCommit(connection, partition, floor + 1)) ?? Number.POSITIVE_INFINITY) - 1);
  }
  return done;
}

/** The sequence of a partition's first commit at or after a sequence, from the leader of the stream. */
async function firstCommit({ manager }: Connection, partition: number, from: number): Promise<number | undefined> {
  const query = { seq: from, next_by_subj: runsOfPartition(partition) };
  try {
    return (await manager.streams.getMessage(streams.runs, query))?.seq;
  } catch (error) {
    if (isMessageNotFound(error)) return undefined;
    throw error;
  }
}
