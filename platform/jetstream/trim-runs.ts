import { setTimeout as sleep } from "node:timers/promises";
import type { StoredMsg } from "@nats-io/jetstream";
import { streams } from "../../domain/subjects.ts";
import type { Connection } from "./connection.ts";
import type { Reading } from "./consumer.ts";
import { isMessageNotFound } from "./missing.ts";
import { statePosition } from "./state-position.ts";

export interface TrimOptions {
  readonly connection: Connection;
  /** Every commit up to this sequence is routed and recorded. */
  readonly processed: () => number;
  readonly failed: (error: unknown) => void;
  readonly everyMs?: number;
  /** Of what is processed, that much stays for those who follow runs live: what is both older and further back than this goes. */
  readonly keep?: Kept;
}

export interface Kept {
  readonly ms: number;
  readonly bytes: number;
}

const defaultKeep: Kept = { ms: 10 * 60_000, bytes: 256 * 1_048_576 };

/** Trims RUNS now and then, until it is stopped. */
export function startTrimming({ connection, processed, failed, everyMs = 5_000, keep = defaultKeep }: TrimOptions): Reading {
  const stopping = new AbortController();
  const { signal } = stopping;
  const trimming = (async () => {
    while (!signal.aborted) {
      await trimRuns(connection, processed(), keep).catch(failed);
      await sleep(everyMs, undefined, { signal }).catch(() => undefined); // Stopping.
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
export async function trimRuns(connection: Connection, processed: number, keep: Kept): Promise<void> {
  const { streams: stored } = connection.manager;
  const { first_seq, last_seq, messages, bytes } = (await stored.info(streams.runs)).state;
  if (messages === 0 || processed < first_seq) return;
  const keptMessages = bytes === 0 ? messages : Math.floor((messages * keep.bytes) / bytes);
  const keepFrom = Math.max(await firstSince(connection, Date.now() - keep.ms), last_seq - keptMessages + 1);
  const upTo = Math.min(processed, await statePosition(connection), keepFrom - 1);
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
