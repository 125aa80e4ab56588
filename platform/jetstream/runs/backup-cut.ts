import type { StoredMsg } from "@nats-io/jetstream";
import { buckets, former, streams } from "../../../domain/subjects.ts";
import { restoredFiller } from "../connection/backup-rights.ts";
import type { Connection } from "../connection/connection.ts";
import { isMessageNotFound } from "../connection/errors.ts";
import { doneUpTo, readFloors } from "./floors.ts";
import { statePosition } from "./state-position.ts";

/** In the order of the saves: STATE and FLOORS, then what delivery writes, then INVOCATIONS, then RUNS (decision 0108). */
const [copies, floors] = [streams.state, `KV_${buckets.floors}`];
const streamsWrittenByDelivery = [streams.deliveries, former.ordered, streams.workflows];
const ordered: readonly string[] = [copies, floors, ...streamsWrittenByDelivery, streams.invocations, streams.runs];

/** In the order of the saves. */
export interface SavingOrder {
  /** Entries that the operator derives from resources, and states of queues: before the resources. */
  readonly entries: readonly string[];
  /** Then, in quick succession: the copies of commits, what is routed, what routing has produced. */
  readonly routed: readonly string[];
  /** Then the position in Postgres is fixed, then these, then commits end at the cut. */
  readonly accepted: readonly string[];
  readonly commits: readonly string[];
  /**
   * Bundles and files of runs: what is saved before names only existing ones, and none is deleted within an hour after the last reference to it
   * has ended.
   */
  readonly rest: readonly string[];
}

export function savingOrder(names: readonly string[]): SavingOrder {
  const of = (...wanted: readonly string[]): readonly string[] => wanted.filter((name) => names.includes(name));
  const isEntry = (name: string): boolean => name.startsWith("KV_") && !ordered.includes(name);
  return {
    entries: names.filter(isEntry),
    routed: of(copies, floors, ...streamsWrittenByDelivery),
    accepted: of(streams.invocations),
    commits: of(streams.runs),
    rest: names.filter((name) => !isEntry(name) && !ordered.includes(name)),
  };
}

/**
 * The sequence up to which commits are copied to STATE, routed and recorded now. What is saved from now on is newer, so commits up to here
 * may be missing in the saved RUNS, and no later ones.
 */
export async function settledUpTo(connection: Connection): Promise<number> {
  const { last_seq } = (await connection.manager.streams.info(streams.runs)).state;
  const known = await readFloors(connection);
  let upTo = Math.min(last_seq, await statePosition(connection));
  if (known === undefined) return 0;
  for (const each of [known.routed, known.recorded]) upTo = await doneUpTo(connection, each, upTo);
  return upTo;
}

/** Where a backup ends. */
export interface Cut {
  /** Later commits are not restored: the invocations that they belong to were accepted or saved before. */
  readonly commits: number;
  /** Restored invocations continue after this number: commits and ids of runs name lower ones. */
  readonly invocations: number;
}

export async function currentCut({ manager }: Connection): Promise<Cut> {
  const commits = (await manager.streams.info(streams.runs)).state.last_seq;
  const invocations = (await manager.streams.info(streams.invocations)).state.last_seq;
  return { commits, invocations };
}

/** The first sequence of RUNS that is stored. */
export async function firstCommit({ manager }: Connection): Promise<number> {
  return (await manager.streams.info(streams.runs)).state.first_seq;
}

const batchSize = 200;

/** Deletes commits after the cut from the restored RUNS, before STATE copies from it. Sequences continue after them. Safe to repeat. */
export async function endAtCut({ manager }: Connection, { commits }: Cut): Promise<void> {
  const { last_seq } = (await manager.streams.info(streams.runs)).state;
  for (let start = commits + 1; start <= last_seq; start += batchSize) {
    const sequences = Array.from({ length: Math.min(batchSize, last_seq - start + 1) }, (_, index) => start + index);
    await Promise.all(sequences.map((sequence) => deleteCommit(manager, sequence)));
  }
}

async function deleteCommit(manager: Connection["manager"], sequence: number): Promise<void> {
  const found: Pick<StoredMsg, "seq"> | null = await manager.streams.getMessage(streams.runs, { seq: sequence }).catch((error: unknown) => {
    if (isMessageNotFound(error)) return null;
    throw error;
  });
  if (found !== null) await manager.streams.deleteMessage(streams.runs, found.seq, false);
}

/** Raises the last sequence of the restored INVOCATIONS to that of the cut. Safe to repeat. */
export async function continueAfterCut({ manager, publisher }: Connection, { invocations }: Cut): Promise<void> {
  for (;;) {
    const { last_seq } = (await manager.streams.info(streams.invocations)).state;
    if (last_seq >= invocations) break;
    const count = Math.min(batchSize, invocations - last_seq);
    await Promise.all(Array.from({ length: count }, () => publisher.publish(restoredFiller, "")));
  }
  await manager.streams.purge(streams.invocations, { filter: restoredFiller });
}
