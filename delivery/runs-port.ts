import type { CommitPosition } from "../domain/deployment.ts";

/**
 * The stream RUNS, read twice: by the router from the floor that was published last, by the recorder from the position in Postgres. Both
 * call `done` in any order, and hold a bounded number of bytes of commits that are not done.
 */
export interface Runs {
  /** Each commit at least once, in order. */
  route(onCommit: (text: string, done: () => void, subject: string, position: CommitPosition) => void): Promise<RouteReading>;
  /** Each commit after the sequence, in order and without gaps. */
  record(afterSequence: number, onCommit: (text: string, sequence: number, subject: string, done: () => void) => void): Promise<Reading>;
}

export interface RouteReading extends Reading {
  /** Resolves once every commit that was handed out is done. */
  idle(): Promise<void>;
  /** Publishes the floor, so that the next process begins there. */
  close(): Promise<void>;
}

export interface Reading {
  stop(): Promise<void>;
}
