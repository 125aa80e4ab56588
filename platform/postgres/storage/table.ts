/** Bytes in use, at most one row for each stream and the database in an hour; deleted after two weeks. */
export interface DiskSampleTable {
  /** Name of a stream of NATS, or `postgres`: that of a stream is in upper case. */
  readonly name: string;
  /** Start of the hour. */
  readonly at_ms: number;
  readonly bytes: number;
}
