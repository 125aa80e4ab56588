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
}

export interface StreamReport {
  readonly name: string;
  readonly messages: number;
  readonly bytes: number;
  /** Null: no limit. */
  readonly maxBytes: number | null;
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
