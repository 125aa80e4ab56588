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
  /** Of what is processed, that much stays for those who follow runs live: what is both older and further back than this goes. */
  readonly keep?: Kept;
}

/** How far every commit is routed and recorded, `upTo` at most. */
export type ProcessedUpTo = (upTo: number) => Promise<number>;

export interface Kept {
  /** Absent: of any age. */
  readonly ms?: number;
  readonly bytes: number;
}

const everyMs = 1_000;
/** Bytes can fill a stream within seconds; age is looked at less often. */
const roundsPerAge = 10;
const defaultKeep: Kept = { ms: 10 * 60_000, bytes: 256 * 1_048_576 };

/** Trims RUNS now and then, until it is stopped. */
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
 * Removes commits from RUNS that are processed and that STATE has copied, and keeps the newest: so many milliseconds or bytes of them, whichever is
 * less. Bytes are estimated by the mean size of a message.
 */
export async function trimRuns(connection: Connection, processed: ProcessedUpTo, keep: Kept): Promise<void> {
  const { streams: stored } = connection.manager;
  const { config, state } = await stored.info(streams.runs);
  const { first_seq, last_seq, messages, bytes } = state;
  if (messages === 0) return;
  // The rest of a small stream is for what is not processed.
  const keptBytes = config.max_bytes > 0 ? Math.min(keep.bytes, config.max_bytes / 4) : keep.bytes;
  const keptMessages = Math.floor((messages * keptBytes) / bytes);
  const oldest = keep.ms === undefined ? 0 : await firstSince(connection, Date.now() - keep.ms);
  const keepFrom = Math.max(oldest, last_seq - keptMessages + 1);
  if (keepFrom <= first_seq) return;
  const upTo = await processed(Math.min(keepFrom - 1, await statePosition(connection)));
  if (upTo >= first_seq) await stored.purge(streams.runs, { seq: upTo + 1 });
}

/** The sequence of the first commit stored since then; behind the last when there is none. */
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
