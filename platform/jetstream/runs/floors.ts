import { z } from "zod";
import { buckets, partitionCount, runsOfPartition, streams } from "../../../domain/subjects.ts";
import { Bucket } from "../buckets/bucket.ts";
import type { Connection } from "../connection/connection.ts";
import { isMessageNotFound, isMissing } from "../connection/errors.ts";
import { WrongLastSequence } from "../connection/errors.ts";
import { identityOf } from "../streams/stream-identity.ts";

/**
 * How far delivery has come in each partition of RUNS: every commit of it up to these sequences is routed, and recorded. Floors only
 * grow.
 */
export interface Floors {
  /** Tells RUNS from an earlier stream of that name, which counted from 1 as well. */
  readonly stream: string;
  readonly routed: readonly number[];
  readonly recorded: readonly number[];
  /** How far commits of all partitions together are routed to ordered webhooks: one number. */
  readonly ordered: readonly number[];
}

export type FloorKind = "routed" | "recorded" | "ordered";

const sequence = z.int().min(0);
const sequences = z.array(sequence).length(partitionCount);
/** The numbers beside `partitions` hold for all of them: a version that knows no partitions reads and writes these alone. */
const floorsEntry = z.object({
  stream: z.string(),
  routed: sequence,
  recorded: sequence,
  partitions: z.object({ routed: sequences, recorded: sequences, ordered: z.array(sequence).length(1).optional() }).optional(),
});
/** The only key of the bucket FLOORS. */
const entryKey = "delivery";
/** Before there were floors, the router had a durable consumer of this name. */
const formerConsumer = "router";

const ofAll = (floor: number): readonly number[] => Array.from({ length: partitionCount }, () => floor);

function parseFloors(json: unknown): Floors {
  const { stream, routed, recorded, partitions } = floorsEntry.parse(json);
  return {
    stream,
    routed: partitions?.routed ?? ofAll(routed),
    recorded: partitions?.recorded ?? ofAll(recorded),
    ordered: partitions?.ordered ?? [routed],
  };
}

const entriesOf = (connection: Connection): Bucket<Floors> => new Bucket(connection, buckets.floors, parseFloors);

/** For runners: undefined before delivery has published any. @throws Unavailable */
export const readFloors = (connection: Connection): Promise<Floors | undefined> => entriesOf(connection).get(entryKey);

/** The floors of the RUNS that there is, to begin with. */
export async function loadFloors(connection: Connection): Promise<Floors> {
  const info = await connection.manager.streams.info(streams.runs);
  const stream = identityOf(info);
  const { value, revision } = await entriesOf(connection).read(entryKey);
  if (value?.stream !== stream) {
    const routed = await formerFloor(connection);
    return { stream, routed: ofAll(routed), recorded: ofAll(0), ordered: [routed] };
  }
  const known = (floor: number): number => Math.min(floor, info.state.last_seq);
  const { routed, recorded, ordered } = value;
  const floors = { stream, routed: routed.map(known), recorded: recorded.map(known), ordered: ordered.map(known) };
  // A server that lost its newest commits uses their sequences again: a floor above the last one must not wait for them.
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

/** For each partition the higher of both. */
export function higherFloors(one: Floors, other: Floors): Floors {
  const higher = (kind: FloorKind) => one[kind].map((floor, partition) => Math.max(floor, other[kind][partition] ?? 0));
  return { stream: one.stream, routed: higher("routed"), recorded: higher("recorded"), ordered: higher("ordered") };
}

/** How often an entry is read again that others change at the same time. */
const maxConflicts = 10;

/**
 * Publishes floors, so that others can go on behind them. The entry gets the higher of what it holds and what is given, by
 * compare-and-set: floors are facts, so whoever publishes late or twice does no harm. @throws Unavailable
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

function encodeFloors({ stream, routed, recorded, ordered }: Floors): string {
  const lowest = { routed: Math.min(...routed, ...ordered), recorded: Math.min(...recorded) };
  return JSON.stringify({ stream, ...lowest, partitions: { routed, recorded, ordered } });
}

export const isSame = (one: Floors, other: Floors): boolean => encodeFloors(one) === encodeFloors(other);

/**
 * The highest sequence up to which all partitions are done, `upTo` at most, where each is done up to its floor. A partition without commits
 * between its floor and `upTo` counts as done: it may be idle for days. @throws when NATS does not answer
 */
export async function doneUpTo(connection: Connection, floors: readonly number[], upTo: number): Promise<number> {
  let done = upTo;
  // The lowest first: mostly nothing more has to be asked then.
  const lowestFirst = floors.map((floor, partition) => ({ floor, partition })).sort((a, b) => a.floor - b.floor);
  for (const { floor, partition } of lowestFirst) {
    if (floor >= done) break;
    done = Math.min(done, ((await firstCommit(connection, partition, floor + 1)) ?? Number.POSITIVE_INFINITY) - 1);
  }
  return done;
}

/** The sequence of a partition's first commit from that one on, as the leader of the stream knows it. */
async function firstCommit({ manager }: Connection, partition: number, from: number): Promise<number | undefined> {
  const query = { seq: from, next_by_subj: runsOfPartition(partition) };
  try {
    return (await manager.streams.getMessage(streams.runs, query))?.seq;
  } catch (error) {
    if (isMessageNotFound(error)) return undefined;
    throw error;
  }
}
