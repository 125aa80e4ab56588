import { pause } from "../../domain/retry.ts";
import type { Log } from "../ports.ts";
import type { Reading } from "../routing/ports.ts";

/** What of the history has to be done now and then. Any number of processes may do it at once. */
export interface Upkeep {
  /** A batch of events that were told to go; false when there is none. */
  continueDeletions(): Promise<boolean>;
  sweep(): Promise<void>;
}

const lookMs = 3_000;
const sweepMs = 3 * 3_600_000;

/** Until it is stopped: deletes what was told to go, batch after batch, and sweeps. What fails is tried again at the next look. */
export function startUpkeep(history: Upkeep, log: Pick<Log, "warn">, { everyMs = lookMs }: { readonly everyMs?: number } = {}): Reading {
  const stopping = new AbortController();
  const { signal } = stopping;
  let sweptAt = Number.NEGATIVE_INFINITY;

  async function look(): Promise<void> {
    while (!signal.aborted && (await history.continueDeletions()));
    if (signal.aborted || performance.now() - sweptAt < sweepMs) return;
    await history.sweep();
    sweptAt = performance.now();
  }

  async function keepLooking(): Promise<void> {
    while (!signal.aborted) {
      await look().catch((error: unknown) =>
        log.warn({ op: "history.upkeep", err: error }, "old history is not deleted yet, trying again in a moment"),
      );
      await pause(everyMs, signal);
    }
  }

  const looking = keepLooking();
  return {
    stop: async () => {
      stopping.abort();
      await looking;
    },
  };
}
