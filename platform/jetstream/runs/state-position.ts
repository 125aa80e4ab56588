import type { StoredMsg } from "@nats-io/jetstream";
import { streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { isMessageNotFound } from "../connection/errors.ts";

/** The sequence on RUNS of a message of STATE, from the header `Nats-Stream-Source: RUNS <sequence> …` that NATS writes. */
export function copiedFrom({ header }: Pick<StoredMsg, "header">): number | undefined {
  const [stream, sequence] = header.get("Nats-Stream-Source").split(" ");
  return stream === streams.runs && Number(sequence) > 0 ? Number(sequence) : undefined;
}

/**
 * The sequence of RUNS up to which STATE has copied every commit, or a newer one of the same source. It may be too low: the newest commits of
 * STATE may belong to sources that were deleted in the meantime.
 */
export async function statePosition(connection: Connection): Promise<number> {
  try {
    const newest = await connection.manager.streams.getMessage(streams.state, { last_by_subj: "runs.>" });
    return newest === null ? 0 : (copiedFrom(newest) ?? 0);
  } catch (error) {
    if (isMessageNotFound(error)) return 0;
    throw error;
  }
}
