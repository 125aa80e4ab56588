import type { EventCause } from "../../domain/invocation/invocation.ts";
import type { TracedAttempt, TracedEvent, TracedRun, TracedStep } from "../../domain/trace/records.ts";

/** What the history has of traces. Every list has a limit; rows are in the order of what was asked for, then in their own. */
export interface TraceRecords {
  /** Runs with this id, those of these owners first: ids are unique, unless a runner has forged one. */
  findRuns(id: string, owners: readonly string[]): Promise<readonly TracedRun[]>;
  findEvent(emitter: string, id: string): Promise<TracedEvent | undefined>;
  /** Attempts at a delivery, or its dead letter. */
  findDelivery(delivery: string, owners: readonly string[]): Promise<readonly TracedAttempt[]>;
  /** Of an emit, by the id that receivers have as `webhook-id`: at most a hundred attempts, those of these owners' webhooks first. */
  findDeliveriesOf(emitId: string, owners: readonly string[]): Promise<readonly TracedAttempt[]>;
  /** What led to a run, the nearest first: causes of causes, until one is unknown. */
  ancestors(run: RunKey, limit: number): Promise<readonly Ancestor[]>;
  runs(keys: readonly RunKey[]): Promise<readonly TracedRun[]>;
  /** Attempts of steps of these runs of workflows. */
  steps(runs: readonly RunKey[], limit: number): Promise<readonly Found<TracedStep>[]>;
  /** Events that these runs emitted. */
  events(runs: readonly (RunKey & { readonly startedAt: number })[], limit: number): Promise<readonly Found<TracedEvent>[]>;
  /** Runs that these events, or calls of workflows, started. */
  caused(causes: readonly EventCause[], limit: number): Promise<readonly Found<TracedRun>[]>;
  /** Attempts at the deliveries of these events; of a run of a workflow, what `$.send` asked for. */
  deliveries(subjects: readonly DeliverySubject[], limit: number): Promise<readonly Found<TracedAttempt>[]>;
}

/** A run of a source or workflow. */
export interface RunKey {
  readonly emitter: string;
  readonly run: string;
}

export interface DeliverySubject {
  readonly source: string;
  /** Id of the emit, or of the run. */
  readonly emitId: string;
}

/** A row, and the index of what it was asked for. */
export interface Found<Row> {
  readonly of: number;
  readonly row: Row;
}

export interface Ancestor {
  readonly cause: EventCause;
  /** Undefined: it is not stored, or the cause is a call of a workflow. */
  readonly event: TracedEvent | undefined;
  /** The run that emitted the event or made the call. */
  readonly run: RunKey | undefined;
}
