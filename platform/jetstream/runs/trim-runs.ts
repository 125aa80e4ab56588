import type { StoredMsg } from "@nats-io/jetstream";
import { streams } from "../../../domain/subjects.ts";
import { pause } from "../../../domain/retry.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import { isMessageNotFound } from "../connection/errors.ts";
import { statePosition } from "./state-position.ts";

export interface TrimOptions {
  readonly connection: Connection;
  readonly processed: ProcessedUpTo;
  readonly failed: (error: unknown) => void;
  /** Processed commits that are kept for live followers. Those beyond both bounds are removed. */
  readonly keep?: Kept;
}

/** The highest sequence, at most `upTo`, up to which every commit is routed and recorded. */
export type ProcessedUpTo = (upTo: number) => Promise<number>;

export interface Kept {
  /** Absent: any age. */
  readonly ms?: number;
  readonly bytes: number;
}

const everyMs = 1_000;
/** Bytes can fill a stream within seconds; age is checked less often. */
const roundsPerAge = 10;
const defaultKeep: Kept = { ms: 10 * 60_000, bytes: 256 * 1_048_576 };

/** Trims RUNS every second, until it is stopped. */
export function startTrimming({ connection, processed, failed, keep = defaultKeep }: TrimOptions): Stoppable {
  const stopping = new AbortController();
  const { signal } = stopping;
  const trimming = (async () => {
    for (let round = 0; !signal.aborted; round++) {
      await trimRuns(connection, processed, round % roundsPerAge === 0 ? keep : { bytes: keep.bytes }).catch(failed);
      await pause(everyMs, signal);
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await trimming;
    },
  };
}

/**
 * Removes commits from RUNS that are processed and copied to STATE, except the newest: those within the kept time or bytes, whichever is
 * less. Bytes are estimated from the mean size of a message.
 */
export async function trimRuns(connection: Connection, processed: ProcessedUpTo, keep: Kept): Promise<void> {
  const { streams: stored } = connection.manager;
  const { config, state } = await stored.info(streams.runs);
  const { first_seq, last_seq, messages, bytes } = state;
  if (messages === 0) return;
  // The rest of a small stream is for unprocessed commits.
  const keptBytes = config.max_bytes > 0 ? Math.min(keep.bytes, config.max_bytes / 4) : keep.bytes;
  const keptMessages = Math.floor((messages * keptBytes) / bytes);
  const oldest = keep.ms === undefined ? 0 : await firstSince(connection, Date.now() - keep.ms);
  const keepFrom = Math.max(oldest, last_seq - keptMessages + 1);
  if (keepFrom <= first_seq) return;
  const upTo = await processed(Math.min(keepFrom - 1, await statePosition(connection)));
  if (upTo >= first_seq) await stored.purge(streams.runs, { seq: upTo + 1 });
}

/** The sequence of the first commit stored at or after this time; infinity if there is none. */
async function firstSince({ manager }: Connection, sinceMs: number): Promise<number> {
  const query = { start_time: new Date(sinceMs), batch: 1, next_by_subj: "runs.>" };
  let first: StoredMsg | undefined;
  try {
    for await (const message of await manager.direct.getBatch(streams.runs, query)) first ??= message;
  } catch (error) {
    if (!isMessageNotFound(error)) throw error;
  }
  return first?.seq ?? Number.POSITIVE_INFINITY;
}
