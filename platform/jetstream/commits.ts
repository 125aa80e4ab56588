import type { CommitPosition } from "../../domain/deployment.ts";
import { runSubject, streams } from "../../domain/subjects.ts";
import type { Connection } from "./connection.ts";
import { WrongLastSequence } from "./publish-errors.ts";

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
 * RUNS comes first: what it holds is at least as new as STATE, which is filled from it and may lag. STATE answers for what has aged out.
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

/** Extends a source's history by one commit, or not at all. @throws Unavailable when it is not known whether it did */
export async function appendCommit(connection: Connection, ref: SourceRef, commit: string, expectedSequence: number): Promise<Appended> {
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
