import type { StreamInfo } from "@nats-io/jetstream";
import { streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";

/** Metadata of a restored stream: the identity of the stream that was saved. */
export const formerCreation = "headwater-created";

/** Distinguishes a stream from an earlier one of its name, whose sequences began at 1 too: the creation time, which a restored stream keeps. */
export const identityOf = ({ config, created }: Pick<StreamInfo, "config" | "created">): string =>
  config.metadata?.[formerCreation] ?? String(created);

const recordedName = (identity: string): string => `${streams.runs}@${identity}`;

export interface RecordedRuns {
  /** The name under which Postgres stores positions in the present stream RUNS. */
  readonly stream: string;
  /** The same for a stream RUNS of another identity. */
  readonly nameOf: (identity: string) => string;
}

/** @throws when NATS does not answer */
export async function recordedRuns({ manager }: Pick<Connection, "manager">): Promise<RecordedRuns> {
  return { stream: recordedName(identityOf(await manager.streams.info(streams.runs))), nameOf: recordedName };
}
