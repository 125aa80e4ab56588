import { setTimeout as sleep } from "node:timers/promises";
import type { StoredMsg } from "@nats-io/jetstream";
import type { CommitPosition } from "../../domain/deployment.ts";
import { Unavailable } from "../../domain/errors.ts";
import { runSubject, streams } from "../../domain/subjects.ts";
import type { Connection } from "./connection.ts";
import { WrongLastSequence } from "./publish-errors.ts";
import { copiedFrom } from "./state-position.ts";

export interface LastCommit {
  /** Text of the commit; undefined before the first run. */
  readonly text: string | undefined;
  /** What the next commit must expect: sequence on RUNS, 0 when RUNS holds none of this source. */
  readonly sequence: number;
}

export interface SourceRef {
  readonly partition: number;
  readonly owner: string;
  readonly source: string;
}

/**
 * RUNS comes first: what it holds is at least as new as STATE, which is filled from it and may lag. STATE answers for what was trimmed.
 * Should a replica answer with something older, the expected sequence is refused and the commit is read again.
 */
export async function lastCommit(connection: Connection, ref: SourceRef): Promise<LastCommit> {
  const query = { last_by_subj: subjectOf(ref) };
  const run = await connection.manager.direct.getMessage(streams.runs, query);
  if (run !== null) return { text: run.string(), sequence: run.seq };
  const state = await connection.manager.direct.getMessage(streams.state, query);
  return { text: state?.string(), sequence: 0 };
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
  const appended = await tryAppend(connection, ref, commit, expectedSequence);
  if (appended.outcome === "stored" || expectedSequence === 0 || !(await isLastAndTrimmed(connection, ref, expectedSequence)))
    return appended;
  return tryAppend(connection, ref, commit, 0);
}

async function tryAppend(connection: Connection, ref: SourceRef, commit: string, expectedSequence: number): Promise<Appended> {
  try {
    const { seq } = await connection.publisher.publish(subjectOf(ref), commit, {
      expectedLastSubjectSequence: expectedSequence,
    });
    return { outcome: "stored", sequence: seq };
  } catch (error) {
    if (error instanceof WrongLastSequence) return { outcome: "refused" };
    throw error;
  }
}

/** A replica that answers for STATE may lag; RUNS is trimmed only after STATE has copied it, so waiting for a moment is enough. */
const stateLagMs = 2_000;
const lookAgainMs = 50;

async function isLastAndTrimmed({ manager }: Connection, ref: SourceRef, sequence: number): Promise<boolean> {
  const find = (stream: string): Promise<StoredMsg | null> =>
    manager.direct.getMessage(stream, { last_by_subj: subjectOf(ref) }).catch((cause: unknown) => {
      throw new Unavailable(`the last commit of source ${ref.source} cannot be read from ${stream}: try again in a moment`, { cause });
    });
  for (const deadline = performance.now() + stateLagMs; ; await sleep(lookAgainMs)) {
    if ((await find(streams.runs)) !== null) return false;
    const state = await find(streams.state);
    const copied = state === null ? undefined : copiedFrom(state);
    // Without a commit in STATE the history has ended.
    if (copied === undefined || copied >= sequence || performance.now() > deadline) return copied === sequence;
  }
}

/** Ends the history of a deleted source. STATE goes last: as long as it is there, doing this again finds the rest. */
export async function forgetCommits(connection: Connection, ref: SourceRef): Promise<void> {
  const filter = subjectOf(ref);
  await connection.manager.streams.purge(streams.runs, { filter });
  await connection.manager.streams.purge(streams.state, { filter });
}

const subjectOf = ({ partition, owner, source }: SourceRef): string => runSubject(partition, owner, source);

/** Where the last commit of all lies. */
export async function lastPosition({ manager }: Connection): Promise<CommitPosition> {
  const { created, state } = await manager.streams.info(streams.runs);
  return { stream: String(created), seq: state.last_seq };
}
