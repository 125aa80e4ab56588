import type { EmittedEvent } from "../../domain/event/emitted-event.ts";
import type { Joined, ShareMember } from "../../domain/invocation/partition-share.ts";
import type { CommitPosition, Route } from "../../domain/source/deployment.ts";
import type { Delivery } from "./delivery.ts";

export interface Reading {
  /** Hands out nothing more. */
  stop(): Promise<void>;
}

/**
 * The partitions of the stream RUNS that this replica reads. Each is read twice: by the router from the last published floor, and by the
 * recorder from its position in Postgres. Both call `done` in any order, and hold a bounded number of bytes of unfinished commits.
 */
export interface Runs {
  /** Hands out each commit at least once, in order. */
  route(onCommit: (text: string, done: () => void, subject: string, position: CommitPosition) => void): RoutedReading;
  /** Hands out each commit after the sequence that a partition is opened with, in order and without gaps. */
  record(onCommit: (text: string, sequence: number, subject: string, done: () => void) => void): PartitionReading<[afterSequence: number]>;
  /** Publishes the floors of router and recorder; false: publishing failed. They are also published four times a second. Never rejects. */
  publishFloors(): Promise<boolean>;
  /** Removes routed and recorded commits from the stream until it is stopped. Several replicas may do so at once. */
  startTrimming(): Reading;
  /** Publishes the floors for the last time. */
  close(): Promise<void>;
}

/** A partition is read from a floor that was read before. */
export interface RoutedReading extends PartitionReading<[floor: RoutedFloor]> {
  /** What all replicas have routed of the partition. @throws when NATS does not answer */
  floor(partition: number): Promise<RoutedFloor>;
}

/** All commits up to this one are routed. */
export type RoutedFloor = CommitPosition;

export interface PartitionReading<From extends readonly unknown[] = []> extends Reading {
  /** Resolves once the partition is being read. @throws when NATS does not answer */
  open(partition: number, ...from: From): Promise<OpenPartition>;
  /** Resolves once every commit that was handed out is done. */
  idle(): Promise<void>;
}

export interface OpenPartition {
  /**
   * Hands out no more of the partition. Resolves once the commits that were handed out are done, or when the signal aborts: then the others
   * are forgotten, and are handed out again when the partition is opened the next time.
   */
  close(signal?: AbortSignal): Promise<void>;
}

/** Of a first attempt, what stays the same while it is repeated. */
export interface FirstAttempt {
  /** Undefined for a send, which has none. */
  readonly route: Route | undefined;
  /** Epoch ms. Part of the id of the message if the delivery is stored at once, so that NATS stores a repetition once. */
  readonly atMs: number;
  /** Time that the delivery waited behind others of the same source and listener. */
  readonly waitedMs: number;
}

/** Makes first attempts, or stores deliveries for later ones. */
export interface FirstAttempts {
  attemptFirst(delivery: Delivery, first: FirstAttempt): Promise<unknown>;
  schedule(delivery: Delivery, atMs: number): Promise<unknown>;
  /** Gives up a delivery that can be neither attempted nor stored. */
  abandon(delivery: Delivery, error: Error): Promise<void>;
}

/** The ordered queues of a partition. */
export interface OrderedDeliveries {
  /** Resolves once the deliveries, which have one source and one webhook, are delivered or stored. @throws when another replica has taken over */
  deliver(deliveries: readonly Delivery[]): Promise<void>;
}

export interface OrderedAppends {
  /** Delivers events that belong to no commit. Resolves once they are delivered or stored. */
  append(deliveries: readonly Delivery[]): Promise<void>;
}

/** The stream DELIVERIES. */
export interface Schedules {
  /** Schedules a delivery for `atMs`. Replaces an earlier schedule of the same delivery; a repeated `messageId` is ignored. */
  schedule(webhook: string, delivery: string, text: string, atMs: number, messageId: string): Promise<void>;
}

/** Postgres: the rows of scheduled events. */
export interface ScheduledEventRows {
  /** State of a scheduled event by its id in the list. `gone`: canceled or already emitted; `unrecorded`: its commit is not recorded yet. */
  scheduledEvent(source: string, listedId: string, position: CommitPosition): Promise<"listed" | "gone" | "unrecorded">;
  /** Moves a scheduled event from the list to the event history, under `id`. Does nothing if the event is not listed. */
  emitScheduledEvent(source: string, listedId: string, id: string): Promise<void>;
}

export interface RunsLog {
  warn(fields: object, message: string): void;
}

export interface RouteEntries {
  /** Calls `onEntry` for each existing entry, resolves, and then calls it for each change. */
  watch(onEntry: (subscription: string, route: Route | undefined) => void): Promise<Reading>;
}

export interface Replays {
  /** Hands out each event that is to be replayed until `done`. Of one source, the next event follows once the one before is done. */
  read(onEvent: (text: string, done: () => void) => void): Promise<Reading>;
}

/** Announces a scheduled event that has become due to live streams. Best effort; never throws. */
export type AnnounceEvent = (event: EmittedEvent) => void;

/** The processes of the delivery role, which share its work. */
export interface Replicas {
  /** Id of this replica. */
  readonly replica: string;
  /** Announces this replica until it leaves, see `PartitionShare`. `onLapse`: other replicas may have taken it for dead. */
  join(member: ShareMember & { readonly onLapse: () => void }): Promise<Joined>;
  /** Partitions that other live replicas hold. @throws Unavailable */
  heldByOthers(): Promise<ReadonlySet<number>>;
  /** False if other replicas may take this one for dead, and may have taken over its partitions. */
  isCurrent(): boolean;
}
