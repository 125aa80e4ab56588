import type { Joined } from "../domain/invocation/partition-share.ts";
import type { Clock } from "../domain/clock.ts";
import type { BacklogLimits, BacklogReport } from "../domain/limits/admission.ts";
import type { DeploymentEntry } from "../domain/source/deployment.ts";
import type { Answer, Invocation, InvocationNumber } from "../domain/invocation/invocation.ts";
import type { Traces } from "../domain/traces.ts";
import type { SchedulerLimits } from "./schedule/scheduler.ts";
import type { Sandbox } from "./sandbox/port.ts";

/** Everything a runner reaches; main.ts wires adapters to it. */
export interface RunnerPorts {
  readonly sandbox: Sandbox;
  readonly deployments: Deployments;
  readonly histories: Histories;
  readonly moves: Moves;
  readonly intake: Intake;
  readonly membership: Membership;
  readonly overQuota: OverQuota;
  /** Absent: delivery is never behind. */
  readonly processed?: ProcessedCommits;
  /** Absent: all owners weigh the same. */
  readonly weights?: Weights;
  readonly bundles: Bundles;
  readonly timers: Timers;
  readonly stacks: Stacks;
  /** Opens what was sealed for this runner's pool. */
  readonly secrets: { open(sealed: string): Promise<string> };
  /** Best effort, never throws. */
  readonly answer: (subject: string, answer: Answer) => void;
  readonly clock: Clock;
  /** 20 unguessable characters of base62. */
  readonly randomId: () => string;
  readonly log: Log;
  readonly metrics?: RunMetrics;
  /** Absent: there are none. */
  readonly traces?: Traces | undefined;
}

/** What is counted of runs. */
export interface RunMetrics {
  /** A run in the sandbox has ended: `returned`, `threw`, `crashed`, or the code of the limit that ended it. */
  ran(outcome: string, durationMs: number): void;
  /** An invocation's turn has come, so long after it was stored. */
  waited(ms: number): void;
  /** Of this runner, whenever somebody looks. */
  counts(look: () => QueueCounts): void;
}

export interface QueueCounts {
  readonly running: number;
  readonly waiting: number;
  /** Sources that wait only because of what else their owners run. */
  readonly heldBack: number;
  /** Sources that wait because their owners have used up the quota of the day. */
  readonly overQuota: number;
  /** Sources and owners whose backlog is at its bound: endpoints refuse their requests. */
  readonly fullSources: number;
  readonly fullOwners: number;
}

export interface Log {
  info(fields: object, message?: string): void;
  warn(fields: object, message?: string): void;
  error(fields: object, message?: string): void;
}

export interface Deployments {
  /** Reads the entry now. */
  get(source: string): Promise<DeploymentEntry | undefined>;
  /** Tells of every source whose entry changed or ended, from now on; undefined: some may have, it is not known which. */
  onChange(changed: (source: string | undefined) => void): Promise<void>;
}

export interface Histories {
  /** Text of the last commit of a source, if any, and the sequence the next one must expect. */
  last(owner: string, source: string): Promise<{ readonly commit: string | undefined; readonly sequence: number }>;
  /** Extends the history whole or not at all. @throws Unavailable when it is not known whether it did. */
  append(owner: string, source: string, commit: string, expectedSequence: number): Promise<Appended>;
}

export type Appended = { readonly outcome: "stored"; readonly sequence: number } | { readonly outcome: "refused" };

export interface ProcessedCommits {
  /**
   * By partition, how far delivery has come: every commit of the partition up to this sequence is recorded, and delivered to its
   * listeners or scheduled. @throws Unavailable
   */
  upTo(): Promise<readonly number[]>;
}

export interface Moves {
  /** Has an invocation of a source that left this pool follow it. @throws Unavailable when that cannot be done now */
  move(position: InvocationNumber): Promise<void>;
}

/** One message of INVOCATIONS. */
export interface IntakeMessage {
  readonly text: string;
  readonly seq: number;
  /** Epoch ms at which the server stored it. */
  readonly storedAt: number;
  ack(): void;
}

export interface Intake {
  /**
   * Reads one partition until stopped, in the order of the stream. Whenever it begins, also after the connection broke, it hands out all
   * that is not acked, again or for the first time. `stop` ends the reading; what was handed out stays with the caller.
   *
   * @param mayAsk while it returns false nothing more is asked for, until `resume`
   */
  read(partition: number, onMessage: (message: IntakeMessage) => void, mayAsk: () => boolean): Promise<IntakeReading>;
}

export interface IntakeReading {
  stop(): Promise<void>;
  /** Messages of the partition that are stored and were not handed out yet, as of the last one that was. */
  unread(): number;
  resume(): void;
}

export interface Membership {
  /** Announces this runner until `leave`, with a report in each heartbeat; calls back with the sorted ids of all live runners that do not retire, now and on each change. */
  join(
    runner: string,
    member: { readonly onMembers: (runners: readonly string[]) => void; readonly report: () => RunnerReport },
  ): Promise<Joined>;
  /** Partitions that other live runners hold. @throws Unavailable */
  heldByOthers(runner: string): Promise<ReadonlySet<number>>;
}

export interface RunnerReport {
  /** Partitions that this runner reads, or still runs something of. */
  readonly holds: readonly number[];
  readonly backlog: BacklogReport;
  /** Others divide the partitions among themselves, as after `retire`, while this is true. */
  readonly isRetiring?: boolean;
}

export interface OverQuota {
  /** Epoch ms until which the owner's quota is used up, if it is. @throws Unavailable */
  untilOf(owner: string): Promise<number | undefined>;
  /** Tells of each owner of whom that changed, from now on; undefined: of some it may have, it is not known of whom. */
  onChange(changed: (owner: string | undefined) => void): Promise<{ stop(): Promise<void> }>;
}

export interface Weights {
  /** How many times as much as most an owner gets, if not once. @throws Unavailable */
  weightOf(owner: string): Promise<number | undefined>;
  /** Tells of each owner of whom that changed, from now on; undefined: of some it may have, it is not known of whom. */
  onChange(changed: (owner: string | undefined) => void): Promise<{ stop(): Promise<void> }>;
}

export interface Bundles {
  /** Path of a local file that holds the bundle. @throws Unavailable, NotFound */
  path(hash: string): Promise<string>;
}

export interface Timers {
  /** Arms the next link of a chained timer; an earlier one of the same prop is replaced. */
  armAt(source: string, prop: string, atMs: number, invocation: Invocation): Promise<void>;
}

export interface Stacks {
  /** The stack in terms of the component's own file; as it is when that cannot be told. */
  map(bundle: string, stack: string): Promise<string>;
}

export interface RunnerConfig {
  /** Unique among live runners. */
  readonly runner: string;
  readonly pool: string;
  readonly runTimeoutMs: number;
  readonly memoryMb: number;
  /** Bytes of source histories kept in memory. */
  readonly historyBudgetBytes: number;
  /** Bytes of an owner's commits that delivery has not processed; beyond it no run of the owner starts. Absent: 64 MiB. */
  readonly ownerCommitBytes?: number;
  /** Absent: those of a runner with two children. */
  readonly limits?: SchedulerLimits;
  /** Absent: the default bounds. */
  readonly backlog?: BacklogLimits;
  /** How long another runner waits for this one's runs in a partition that this one has lost; absent: ten seconds. */
  readonly handoverMs?: number;
}
