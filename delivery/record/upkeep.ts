import { pause } from "../../domain/retry.ts";
import type { Log } from "../../domain/log.ts";
import type { Reading } from "../routing/ports.ts";

/** Periodic work on the event history. Any number of processes may do it at once. */
export interface Upkeep {
  /** Deletes a batch of events whose deletion was requested; false if there are none. */
  continueDeletions(): Promise<boolean>;
  sweep(): Promise<void>;
}

const defaultIntervalMs = 3_000;
/** Between batches of rows to fill in: at most four thousand rows of a table per second and process. */
const fillingPauseMs = 250;
const sweepIntervalMs = 3 * 3_600_000;

interface Interval {
  readonly everyMs?: number;
}

/** Continues requested deletions, batch after batch, and sweeps, until it is stopped. What fails is repeated in the next round. */
export function startUpkeep(history: Upkeep, log: Pick<Log, "warn">, { everyMs = defaultIntervalMs }: Interval = {}): Reading {
  let sweptAt = Number.NEGATIVE_INFINITY;

  async function runRound(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await history.continueDeletions()));
    if (signal.aborted || performance.now() - sweptAt < sweepIntervalMs) return;
    await history.sweep();
    sweptAt = performance.now();
  }

  return startRounds(async (signal) => {
    await runRound(signal).catch((error: unknown) =>
      log.warn({ op: "history.upkeep", err: error }, "old history is not deleted yet, trying again in a moment"),
    );
    return everyMs;
  });
}

/**
 * Fills in what rows of earlier versions lack, with a pause after each batch, beside the upkeep: neither waits for the other, or fails with it.
 *
 * @param fill returns whether there may be more
 */
export function startFilling(
  fill: () => Promise<boolean>,
  log: Pick<Log, "warn">,
  { everyMs = defaultIntervalMs, pauseMs = fillingPauseMs }: Interval & { readonly pauseMs?: number } = {},
): Reading {
  return startRounds(async () => {
    const hasMore = await fill().catch((error: unknown) => {
      log.warn({ op: "history.fill", err: error }, "older rows of the history cannot be searched yet, trying again in a moment");
      return false;
    });
    return hasMore ? pauseMs : everyMs;
  });
}

/** @param round resolves to the pause until the next one, ms */
function startRounds(round: (signal: AbortSignal) => Promise<number>): Reading {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function runUntilStopped(): Promise<void> {
    while (!signal.aborted) await pause(await round(signal), signal);
  }

  const running = runUntilStopped();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
