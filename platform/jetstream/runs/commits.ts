import type { StoredMsg } from "@nats-io/jetstream";
import type { CommitPosition } from "../../../domain/source/deployment.ts";
import { Invariant, Unavailable } from "../../../domain/errors.ts";
import { waitUntil } from "../../../domain/retry.ts";
import { lastRunSubject, runSubject, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { WrongLastSequence } from "../connection/errors.ts";
import { copiedFrom } from "./state-position.ts";
import { identityOf } from "../streams/stream-identity.ts";

export interface LastCommit {
  /** Text of the commit; undefined before the first run. */
  readonly text: string | undefined;
  /** What the next commit must expect: its sequence on RUNS, 0 when there is none. */
  readonly sequence: number;
}

export interface SourceRef {
  readonly partition: number;
  readonly owner: string;
  readonly source: string;
}

/**
 * RUNS comes first: what it holds is at least as new as STATE, which is filled from it and may lag. STATE answers for what was trimmed.
 * Should a replica of RUNS answer with something older, the expected sequence is refused and the commit is read again.
 *
 * @throws Unavailable
 */
export async function lastCommit(connection: Connection, ref: SourceRef): Promise<LastCommit> {
  const run = await find(connection, streams.runs, ref);
  return run === null ? lastInState(connection, ref) : { text: run.string(), sequence: run.seq };
}

export type Appended = { readonly outcome: "stored"; readonly sequence: number } | { readonly outcome: "refused" };

/**
 * Extends a source's history by one commit, or not at all.
 *
 * RUNS may hold no commit of the source any more: its last one was trimmed. If STATE shows that `expectedSequence` is still the last commit,
 * the commit is appended again, expecting none.
 *
 * @throws Unavailable when it is not known whether the commit was stored
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

/** RUNS is trimmed only after STATE has copied it, so a replica of STATE that lags has to be waited for only for a moment. */
const maxStateLagMs = 2_000;
const pollMs = 50;

/**
 * A direct read may be answered by any replica, and one that was away for long answers before it has caught up. A stale answer about RUNS
 * is refused with the commit that follows from it. About STATE nothing would refuse it, since RUNS holds no commit to compare with: the
 * source would continue from an old state. So the leader is asked as well, for the sequence.
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

/** Larger than any. */
const impossibleSequence = Number.MAX_SAFE_INTEGER;

/** What the leader of STATE holds: a message that expects an impossible sequence is refused with the true one. Undefined while it changes. */
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

/** Ends the history of a deleted source. STATE goes last: as long as it is there, doing this again finds the rest. */
export async function forgetCommits(connection: Connection, ref: SourceRef): Promise<void> {
  const filter = subjectOf(ref);
  await connection.manager.streams.purge(streams.runs, { filter });
  await connection.manager.streams.purge(streams.state, { filter });
}

const subjectOf = ({ partition, owner, source }: SourceRef): string => runSubject(partition, owner, source);

/** Where the last commit of all lies. */
export async function lastPosition({ manager }: Connection): Promise<CommitPosition> {
  const info = await manager.streams.info(streams.runs);
  return { stream: identityOf(info), seq: info.state.last_seq };
}
