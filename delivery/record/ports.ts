import type { Exchange } from "../../domain/delivery/exchange.ts";
import type { DeadLetterRange } from "../../domain/delivery/redelivery.ts";
import type { Commit } from "../../domain/run/commit.ts";
import type { WebhookFailureStore } from "../destinations/ports.ts";
import type { DeliverySubject } from "../routing/delivery.ts";
import type { ScheduledEventRows } from "../routing/ports.ts";
import type { DeadLetter, StoredDeadLetter } from "./dead-letter.ts";

/** Postgres: event history, attempts, dead letters, and the usage and plans of owners. */
export interface History extends CommitRecords, AttemptRecords, DeadLetters, ScheduledEventRows, WebhookFailureStore, OwnerUsage {}

export interface CommitRecords {
  /** By partition, the stream sequence up to which commits are recorded. */
  positions(): Promise<readonly number[]>;
  /**
   * Writes rows and positions (the sequence of the last commit of each partition) in one transaction. Writes nothing for a partition
   * whose stored position is not the expected one. @returns these partitions
   */
  recordCommits(commits: readonly RecordedCommit[], expected: ReadonlyMap<number, number>): Promise<readonly number[]>;
}

export interface OwnerUsage {
  /** Owners who have used up the quota of the day that began at `dayMs` (epoch ms). */
  listOverQuota(dayMs: number): Promise<readonly string[]>;
  /** Weights of the owners whose weight is not 1. */
  listWeights(): Promise<ReadonlyMap<string, number>>;
}

export interface AttemptRecords {
  recordAttempts(attempts: readonly Attempt[]): Promise<void>;
}

export interface DeadLetters {
  /** A delivery that fails again after its redelivery becomes another dead letter, with another id. */
  recordDeadLetters(letters: readonly DeadLetter[]): Promise<void>;
  findDeadLetter(webhook: string, delivery: string): Promise<StoredDeadLetter | undefined>;
  /** Oldest first. */
  oldestDeadLetters(webhook: string, range: DeadLetterRange, limit: number): Promise<readonly StoredDeadLetter[]>;
  /** By their ids, so dead letters that were added since are kept. */
  removeDeadLetters(webhook: string, ids: readonly string[]): Promise<void>;
}

export interface RecordedCommit {
  /** Stream sequence. */
  readonly seq: number;
  readonly commit: Commit;
}

export interface Attempt extends DeliverySubject {
  /** Counts from 1. */
  readonly attempt: number;
  /** Epoch ms. */
  readonly at: number;
  readonly durationMs: number;
  readonly outcome: "delivered" | "retry" | "dead";
  /** HTTP status; null if there was no response. */
  readonly status: number | null;
  readonly error: string | null;
  /** Absent: it is not recorded. */
  readonly exchange?: Exchange;
}

/** Limits of owners that runners and the ingress apply: the end of an exceeded daily quota, and the weight in scheduling. */
export interface OwnerLimits {
  /** Owners that are blocked at `nowMs` (epoch ms); empty if there are too many to list, as blocks end at midnight by themselves. */
  list(nowMs: number): Promise<readonly string[]>;
  /** Holds back the owner's work until `untilMs` (epoch ms). */
  block(owner: string, untilMs: number): Promise<void>;
  /** Ends the block at `nowMs` (epoch ms). Runners can read this time for a day. */
  unblock(owner: string, nowMs: number): Promise<void>;
  /** The weight expires after an hour. */
  setWeight(owner: string, weight: number): Promise<void>;
  removeWeight(owner: string): Promise<void>;
}
