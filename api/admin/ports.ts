import type { DiskSample } from "../../domain/limits/disk-forecast.ts";

/** Use of disks: of the database now, and of all streams and the database in the last two weeks. */
export interface DiskSamples {
  read(): Promise<{
    readonly databaseBytes: number;
    readonly ofDatabase: readonly DiskSample[];
    /** By the name of the stream. */
    readonly ofStreams: ReadonlyMap<string, readonly DiskSample[]>;
  }>;
}

/** State of the installation's NATS streams and of the processes that report to NATS. */
export interface Installation {
  /** @throws Unavailable when NATS does not respond */
  read(): Promise<InstallationReport>;
}

export interface InstallationReport {
  readonly natsVersion: string;
  readonly streams: readonly StreamReport[];
  readonly runners: readonly RunnerReport[];
  /** Live replicas of the delivery role. */
  readonly deliveries: readonly { readonly id: string; readonly partitions: readonly number[] }[];
  /** Undefined: delivery has not started yet, or NATS did not respond. */
  readonly lag: LagReport | undefined;
}

/** Work that is accepted and not finished. */
export interface LagReport {
  /** When the oldest invocation was accepted whose run has not ended, epoch ms; null: there is none. */
  readonly oldestInvocationAt: number | null;
  /** Commits whose events are not all routed. */
  readonly unrouted: number;
  /** Deliveries whose next attempt is due. */
  readonly due: number;
  /** Deliveries whose next attempt is in the future. */
  readonly scheduled: number;
  /** Deliveries queued for ordered webhooks. */
  readonly ordered: number;
  /** Commits that are not in Postgres. */
  readonly unrecorded: number;
}

export interface StreamReport {
  readonly name: string;
  readonly messages: number;
  readonly bytes: number;
  /** Null: no limit. */
  readonly maxBytes: number | null;
  /** `maxBytes`, or the share of the store that setup intends for a stream without a limit; null: neither. */
  readonly limitBytes: number | null;
  /** NATS servers that store it. */
  readonly replicas: number;
}

export interface RunnerReport {
  readonly id: string;
  readonly pool: string;
  /** Share of its memory limit in use, 0 to 1; null without a limit. */
  readonly memoryShare: number | null;
  /** Number of sources whose backlog is full. */
  readonly fullSources: number;
}
