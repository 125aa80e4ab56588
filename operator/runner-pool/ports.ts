import type { Log } from "../../domain/log.ts";
import type { Events, OperatorPorts } from "../ports.ts";
import type { LiveObject } from "./objects/live.ts";
import type { PoolIdentity } from "./objects/names.ts";
import type { WorkloadKind, WorkloadObject } from "./objects/objects.ts";

/** Everything the runner pool reconciler needs from outside. */
export interface RunnerPoolPorts {
  readonly release: Release;
  readonly store: OperatorPorts["store"];
  readonly clock: OperatorPorts["clock"];
  readonly events: Events;
  readonly log: Log;
  readonly workloads: Workloads;
  readonly backlogs: Backlogs;
  readonly load: RunnerLoad;
  readonly consumers: PoolConsumers;
  readonly credentials: PoolCredentials;
  readonly keys: PoolKeys;
}

/** An object of the release that lives exactly as long as the release. */
export interface Release {
  /** The owner of every object of a pool. @throws Unavailable while it has never been read */
  owner(): Promise<ReleaseOwner>;
}

export interface ReleaseOwner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** Kubernetes objects in the namespace of the release. */
export interface Workloads {
  /** Undefined: there is none. */
  find(kind: WorkloadKind, name: string): Promise<LiveObject | undefined>;
  list(kind: WorkloadKind | "Pod", selector: Readonly<Record<string, string>>): Promise<readonly LiveObject[]>;
  /**
   * Server-side apply as field manager `headwater-operator`: overwrites planned fields, leaves the others alone. Writes nothing if nothing
   * differs. @returns the resulting object
   */
  apply(object: WorkloadObject): Promise<LiveObject>;
  /** Also deletes its dependents. A missing object is not an error. */
  delete(kind: WorkloadKind, name: string): Promise<void>;
  /** Deletes objects with these labels that are not in `keep`; never a Secret, which we may not list. */
  prune(selector: Readonly<Record<string, string>>, keep: readonly WorkloadObject[]): Promise<void>;
  /** Called with the pool name from the label whenever an object changes. */
  onChange(changed: (pool: string) => void): void;
  /** Resolves when all objects are cached. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface Backlogs {
  /** Waiting or running invocations of the pool, at most a second old; undefined if NATS is unreachable. */
  of(pool: string): Promise<number | undefined>;
}

export interface RunnerLoad {
  /** Means of the pool's live runners, 0 to 1; undefined without reports. */
  of(pool: string): PoolLoad;
}

export interface PoolLoad {
  /** Number of live runners. Pods that start do not report yet. */
  readonly reporting: number;
  /** Share of the memory limit. */
  readonly memoryShare: number | undefined;
  /** Share of the CPU limit, or of the node's CPUs without one, over the last 15 s. */
  readonly cpuShare: number | undefined;
}

/** A pool's part of the streams. */
export interface PoolConsumers {
  /** Creates the pool's consumers and registers it. Idempotent. */
  setUp(pool: PoolIdentity): Promise<void>;
  /** Number of sources deployed in the pool, without those that have moved out. */
  sources(pool: string): Promise<number>;
  /**
   * Moves queued invocations after their sources, then deletes consumers and entries. Idempotent.
   * @throws Conflict while a source is deployed there, Unavailable while runs in progress keep it from being emptied
   */
  remove(pool: string): Promise<void>;
}

export interface PoolCredentials {
  /** Changes when earlier credentials must be replaced, as after a change of the signing key or of permissions. */
  version(pool: PoolIdentity): Promise<string>;
  /** New credentials file for the NATS user of the pool's runners; different on each call. */
  forPool(pool: PoolIdentity): Promise<string>;
}

export interface PoolKeys {
  /** JWK Set that opens what is sealed for the pool; unchanged until keys are rotated. */
  privateKeys(pool: string): Promise<string>;
}
