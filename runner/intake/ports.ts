import type { Joined } from "../../domain/invocation/partition-share.ts";
import type { BacklogReport } from "../../domain/limits/admission.ts";

export interface IntakePorts {
  readonly intake: Intake;
  readonly membership: Membership;
}

/** One message of the stream INVOCATIONS: a pack of invocations. */
export interface IntakeMessage {
  readonly text: string;
  readonly seq: number;
  /** Epoch ms at which NATS stored it. */
  readonly storedAt: number;
  /** It was stored after this runner opened the partition: no runner can have received it before. */
  readonly isNew: boolean;
  ack(): void;
}

export interface Intake {
  /**
   * Reads one partition until stopped, in stream order. When it starts, and after each reconnect, it delivers all messages that are not
   * acked, again or for the first time. After `stop`, the caller keeps the messages that it has received.
   *
   * @param hasRoom while it returns false, no more messages are requested until `resume` is called
   */
  read(partition: number, onMessage: (message: IntakeMessage) => void, hasRoom: () => boolean): Promise<IntakeReading>;
}

export interface IntakeReading {
  stop(): Promise<void>;
  /** Number of stored messages of the partition that were not delivered yet, as of the last delivered one. */
  unread(): number;
  resume(): void;
}

export interface Membership {
  /**
   * Announces this runner until `leave`, with a report in each heartbeat. Calls `onMembers` with the sorted ids of all live runners that
   * are not retiring, now and on each change.
   */
  join(
    runner: string,
    member: { readonly onMembers: (runners: readonly string[]) => void; readonly report: () => RunnerReport },
  ): Promise<Joined>;
  /** Partitions that other live runners hold. @throws Unavailable */
  heldByOthers(runner: string): Promise<ReadonlySet<number>>;
}

export interface RunnerReport {
  /** Partitions that this runner reads, or whose sources still run here. */
  readonly holds: readonly number[];
  readonly backlog: BacklogReport;
  /** While true, the other runners share the partitions among themselves, as after `retire`. */
  readonly isRetiring?: boolean;
}
