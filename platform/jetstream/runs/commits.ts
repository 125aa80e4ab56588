import type { StoredMsg } from "@nats-io/jetstream";
import type { CommitPosition } from "../../../domain/source/deployment.ts";
import { Invariant, Unavailable } from "../../../domain/errors.ts";
import { kindOfId } from "../../../domain/ids.ts";
import { waitUntil } from "../../../domain/retry.ts";
import { lastRunSubject, runSubject, streams } from "../../../domain/subjects.ts";
import { deletedMarker, endMarker, endMarkerTtlSeconds } from "../../../domain/workflow/run-commit.ts";
import type { Connection } from "../connection/connection.ts";
import { isMessageNotFound, WrongLastSequence } from "../connection/errors.ts";
import { copiedFrom, statePosition } from "./state-position.ts";
import { identityOf } from "../streams/stream-identity.ts";

export interface LastCommit {
  /** Text of the commit; undefined before the first run. */
  readonly text: string | undefined;
  /** Its sequence on RUNS, which the next commit must expect; 0 before the first run. */
  readonly sequence: number;
}

export interface SourceRef {
  readonly partition: number;
  readonly owner: string;
  /** Id of a source, or the history of a run of a workflow: `historyOfRun`. */
  readonly source: string;
}

/**
 * Reads the last commit of a source from RUNS, or from STATE if RUNS has been trimmed: STATE is filled from RUNS and may lag. If a replica of
 * RUNS returns an older commit, the next append is refused and the commit is read again.
 *
 * @throws Unavailable
 */
export async function lastCommit(connection: Connection, ref: SourceRef): Promise<LastCommit> {
  const run = await find(connection, streams.runs, ref);
  const last = run === null ? await lastInState(connection, ref) : { text: run.string(), sequence: run.seq };
  return last.text === deletedMarker ? { text: undefined, sequence: 0 } : last;
}

export type Appended = { readonly outcome: "stored"; readonly sequence: number } | { readonly outcome: "refused" };

/** Appends the first commit of a history that is certain to be empty. It is refused if RUNS has one all the same. @throws as `appendCommit` */
export async function appendFirstCommit(connection: Connection, ref: SourceRef, commit: string): Promise<Appended> {
  const first = await tryAppend(connection, ref, commit, 0);
  return first.outcome === "stored" ? first : { outcome: "refused" };
}

/** How long the marker of a deleted history is stored. Longer than STATE needs to copy it. */
const deletedMarkerTtlSeconds = 60;

/** Ends the history of a deleted source or workflow after a commit that was in flight: NATS forgets it. @throws Unavailable */
export async function endDeletedHistory({ publisher }: Connection, ref: SourceRef): Promise<void> {
  // Behind the commit in RUNS, also if that has been purged: so STATE, which may be copying the commit, replaces it.
  await publisher.publish(subjectOf(ref), deletedMarker, { ttlSeconds: deletedMarkerTtlSeconds });
}

/** Replaces the last commit of an ended run of a workflow by a marker that NATS forgets. Does nothing if there is another last commit. @throws Unavailable */
export async function endHistory(
  connection: Connection,
  ref: SourceRef,
  expectedSequence: number,
  { text, ttlSeconds }: { readonly text: string; readonly ttlSeconds: number } = { text: endMarker, ttlSeconds: endMarkerTtlSeconds },
): Promise<void> {
  const options = { expectedLastSubjectSequence: expectedSequence, ttlSeconds };
  await connection.publisher.publish(subjectOf(ref), text, options).catch((error: unknown) => {
    if (!(error instanceof WrongLastSequence)) throw error;
  });
}

/**
 * Appends one commit to a source's history, or nothing.
 *
 * The last commit of the source may have been trimmed from RUNS. If STATE shows that `expectedSequence` is still the last commit,
 * the commit is appended again, expecting none.
 *
 * @throws Unavailable when it is unknown whether the commit was stored
 */
export async function appendCommit(connection: Connection, ref: SourceRef, commit: string, expectedSequence: number): Promise<Appended> {
  if (expectedSequence > 0) {
    const appended = await tryAppend(connection, ref, commit, expectedSequence);
    if (appended.outcome === "stored") return appended;
    if (appended.actual !== 0) return { outcome: "refused" };
  }
  if ((await lastInState(connection, ref)).sequence !== expectedSequence) return { outcome: "refused" };
  const first = await tryAppend(connection, ref, commit, 0);
  return first.outcome === "stored" ? first : { outcome: "refused" };
}

/** `actual`: the sequence of the last commit on RUNS, 0 when there is none; undefined while another commit is being stored. */
type Tried = Extract<Appended, { outcome: "stored" }> | { readonly outcome: "refused"; readonly actual: number | undefined };

async function tryAppend(connection: Connection, ref: SourceRef, commit: string, expectedSequence: number): Promise<Tried> {
  try {
    const { seq } = await connection.publisher.publish(subjectOf(ref), commit, {
      expectedLastSubjectSequence: expectedSequence,
    });
    return { outcome: "stored", sequence: seq };
  } catch (error) {
    if (error instanceof WrongLastSequence) return { outcome: "refused", actual: error.actual };
    throw error;
  }
}

/** RUNS is trimmed only after STATE has copied it, so a replica of STATE lags only for a moment. */
const maxStateLagMs = 2_000;
const pollMs = 50;

/**
 * Any replica may answer a direct read, even one that has not caught up yet. After a stale read of RUNS the next commit is refused. After a
 * stale read of STATE it would not be refused, since RUNS has no commit to compare with: the source would continue from an old state. So the
 * leader is asked for the sequence too.
 */
async function lastInState(connection: Connection, ref: SourceRef): Promise<LastCommit> {
  let last: LastCommit | undefined;
  const doReplicasAgree = async (): Promise<boolean> => {
    const [state, sequence] = await Promise.all([find(connection, streams.state, ref), sequenceInState(connection, ref)]);
    if (state === null && sequence === 0) last = { text: undefined, sequence: 0 };
    if (state !== null && state.seq === sequence) last = { text: state.string(), sequence: copiedFrom(state) ?? 0 };
    return last !== undefined;
  };
  if ((await waitUntil(doReplicasAgree, maxStateLagMs, pollMs)) && last !== undefined) return last;
  throw new Unavailable(`replicas of ${streams.state} disagree about the last commit of source ${ref.source}: try again in a moment`);
}

/** Larger than any sequence. */
const impossibleSequence = Number.MAX_SAFE_INTEGER;

/** Sequence of the last commit at the leader of STATE, which refuses an impossible expected sequence with the true one. Undefined while it changes. */
async function sequenceInState({ publisher }: Connection, ref: SourceRef): Promise<number | undefined> {
  try {
    await publisher.publish(lastRunSubject(ref.partition, ref.owner, ref.source), "", {
      expectedLastSubjectSequence: impossibleSequence,
      expectedSubject: subjectOf(ref),
    });
  } catch (error) {
    if (error instanceof WrongLastSequence) return error.actual;
    throw error;
  }
  throw new Invariant(`NATS stored a message that expects the sequence ${impossibleSequence}`);
}

const find = ({ manager }: Connection, stream: string, ref: SourceRef): Promise<StoredMsg | null> =>
  manager.direct.getMessage(stream, { last_by_subj: subjectOf(ref) }).catch((cause: unknown) => {
    throw new Unavailable(`the last commit of source ${ref.source} cannot be read from ${stream}: try again in a moment`, { cause });
  });

/** Usually STATE copies a commit within milliseconds, but nothing while it is full. The operator's sweep deletes what is copied later. */
const maxCopyWaitMs = 2_000;

/**
 * Deletes the history of a deleted source, or those of all runs of a deleted workflow, once STATE has copied what RUNS has of them: what
 * NATS is copying now would arrive after the purge. STATE is purged last, so that a repetition after a crash finds the rest.
 */
export async function deleteCommits(connection: Connection, ref: SourceRef): Promise<void> {
  const { streams: stored } = connection.manager;
  const filter = kindOfId(ref.source) === "workflow" ? `${subjectOf(ref)}.*` : subjectOf(ref);
  const last = await lastSequence(connection, filter);
  if (last > 0) await waitUntil(async () => (await statePosition(connection)) >= last, maxCopyWaitMs, pollMs);
  await stored.purge(streams.runs, { filter });
  await stored.purge(streams.state, { filter });
}

/** Asks the leader: a replica may not know the last commit yet. */
async function lastSequence({ manager }: Connection, filter: string): Promise<number> {
  try {
    return (await manager.streams.getMessage(streams.runs, { last_by_subj: filter }))?.seq ?? 0;
  } catch (error) {
    if (isMessageNotFound(error)) return 0;
    throw error;
  }
}

const subjectOf = ({ partition, owner, source }: SourceRef): string => runSubject(partition, owner, source);

/** Position of the last commit of any source. */
export async function lastPosition({ manager }: Connection): Promise<CommitPosition> {
  const info = await manager.streams.info(streams.runs);
  return { stream: identityOf(info), seq: info.state.last_seq };
}
