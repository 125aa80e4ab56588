import type { StoredMsg } from "@nats-io/jetstream";
import { streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { isMessageNotFound } from "../connection/errors.ts";

/** The sequence on RUNS of a message of STATE; the server writes it into the header `Nats-Stream-Source: RUNS <sequence> …`. */
export function copiedFrom({ header }: Pick<StoredMsg, "header">): number | undefined {
  const [stream, sequence] = header.get("Nats-Stream-Source").split(" ");
  return stream === streams.runs && Number(sequence) > 0 ? Number(sequence) : undefined;
}

/**
 * STATE holds every commit up to this sequence of RUNS, or a newer one of the same source. It may be a little behind the truth: the
 * newest commits of STATE may belong to sources that were deleted since.
 */
export async function statePosition({ manager }: Connection): Promise<number> {
  try {
    const newest = await manager.streams.getMessage(streams.state, { last_by_subj: "runs.>" });
    return newest === null ? 0 : (copiedFrom(newest) ?? 0);
  } catch (error) {
    if (isMessageNotFound(error)) return 0;
    throw error;
  }
}
