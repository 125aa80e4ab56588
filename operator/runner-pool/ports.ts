import type { Events, Log, OperatorPorts } from "../ports.ts";
import type { WorkloadKind, WorkloadObject } from "./objects.ts";

/** What the reconciler of runner pools reaches, besides what every reconciler does. */
export interface RunnerPoolPorts {
  readonly store: OperatorPorts["store"];
  readonly clock: OperatorPorts["clock"];
  readonly events: Events;
  readonly log: Log;
  readonly workloads: Workloads;
  readonly backlogs: Backlogs;
  readonly memory: RunnerMemory;
  readonly consumers: PoolConsumers;
  readonly credentials: PoolCredentials;
  readonly keys: PoolKeys;
}

/** Plain objects of Kubernetes in the namespace of the release. */
export interface Workloads {
  /** Undefined: there is none. */
  find(kind: WorkloadKind, name: string): Promise<LiveObject | undefined>;
  list(kind: WorkloadKind | "Pod", selector: Readonly<Record<string, string>>): Promise<readonly LiveObject[]>;
  /**
   * Server-side apply as field manager `headwater-operator`: what is planned is taken back from whoever changed it, what is not
   * planned is left alone. Writes nothing when all of it is there. @returns the object as it is then
   */
  apply(object: WorkloadObject): Promise<LiveObject>;
  /** What it owned goes after it. Deleting what is gone is fine. */
  delete(kind: WorkloadKind, name: string): Promise<void>;
  /** Deletes those of the label that are not named; never a Secret, which we may not list. */
  prune(selector: Readonly<Record<string, string>>, keep: readonly WorkloadObject[]): Promise<void>;
  /** Whenever one of them changed, whoever changed it: the name of the pool that its label says. */
  onChange(changed: (pool: string) => void): void;
  /** Resolves when all that there is has been seen. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** An object as the API server has it; what it holds is read with care, by `live.ts`. */
export interface LiveObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly generation: number;
    readonly deletionTimestamp?: string;
  };
  readonly [field: string]: unknown;
}

export interface Backlogs {
  /** Invocations of the pool that wait or are under way; undefined: the streams cannot be asked now. At most a second old. */
  of(pool: string): Promise<number | undefined>;
}

export interface RunnerMemory {
  /** Mean share of their memory limit that the pool's live runners use, 0 to 1; undefined: none tells. */
  shareOf(pool: string): number | undefined;
}

/** Whose sources a pool runs decides what its runners may write. */
export interface PoolIdentity {
  readonly pool: string;
  /** Absent: everybody's who has no pool. */
  readonly owner?: string;
}

/** A pool's part of the streams. */
export interface PoolConsumers {
  /** Makes what its runners pull from, and has the server know them; safe to repeat. */
  setUp(pool: PoolIdentity): Promise<void>;
  /** How many sources are deployed there (those that moved out do not count). */
  sources(pool: string): Promise<number>;
  /**
   * Sends what still waits there after its source, then takes consumers and entries away. Safe to repeat.
   * @throws Conflict while a source is deployed there, Unavailable when runs under way keep it from being emptied
   */
  remove(pool: string): Promise<void>;
}

export interface PoolCredentials {
  /** Changes when the credentials made before are to be replaced, as after a change of the signing key or of rights. */
  version(pool: PoolIdentity): Promise<string>;
  /** Text of a credentials file for the NATS user of the pool's runners; another one each time. */
  forPool(pool: PoolIdentity): Promise<string>;
}

export interface PoolKeys {
  /** JWK Set, as text, that opens what is sealed for the pool: the same each time, until keys are rotated. */
  privateKeys(pool: string): Promise<string>;
}
