import type { CommitPosition } from "../../domain/source/deployment.ts";

/**
 * The partitions of the stream RUNS that this process reads, each twice: by the router from the floor that was published last, by the
 * recorder from its position in Postgres. Both call `done` in any order, and hold a bounded number of bytes of commits that are not done.
 */
export interface Runs {
  /** Each commit at least once, in order. */
  route(onCommit: (text: string, done: () => void, subject: string, position: CommitPosition) => void): PartitionReading;
  /** Each commit behind the sequence that a partition is opened with, in order and without gaps. */
  record(onCommit: (text: string, sequence: number, subject: string, done: () => void) => void): PartitionReading<[afterSequence: number]>;
  /** Each commit of all partitions at least once, in order: for what needs the order of all of them. */
  routeInOrder(onCommit: (text: string, done: () => void, subject: string, position: CommitPosition) => void): OrderedReading;
  /** Resolves when how far both have come is published, or could not be. It is published four times a second as well. */
  publishFloors(): Promise<void>;
  /** Removes what is routed and recorded, until it is stopped. Several may do so at once. */
  startTrimming(): Reading;
  /** Publishes the floors for the last time. */
  close(): Promise<void>;
}

export interface OrderedReading extends Reading {
  /** Reads from the floor that was published last, or behind that sequence if it is lower. @throws when NATS does not answer */
  open(from?: number): Promise<OpenPartition>;
  /** What has been handed out lies at or below this sequence. */
  position(): number;
  /** Nothing has to be routed in order: the floor rises to the last commit that there was when this was called the time before. @throws when NATS does not answer */
  skip(): Promise<void>;
}

export interface PartitionReading<From extends readonly unknown[] = []> extends Reading {
  /** Resolves when the partition is being read. @throws when NATS does not answer */
  open(partition: number, ...from: From): Promise<OpenPartition>;
  /** Resolves once every commit that was handed out is done. */
  idle(): Promise<void>;
}

export interface OpenPartition {
  /** Hands out no more of it. Resolves once what was handed out is done. */
  close(): Promise<void>;
}

export interface Reading {
  /** Hands out no more. */
  stop(): Promise<void>;
}

export interface RunsLog {
  warn(fields: object, message: string): void;
}
