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
const sweepIntervalMs = 3 * 3_600_000;

/** Continues requested deletions, batch after batch, and sweeps, until it is stopped. What fails is repeated in the next round. */
export function startUpkeep(
  history: Upkeep,
  log: Pick<Log, "warn">,
  { everyMs = defaultIntervalMs }: { readonly everyMs?: number } = {},
): Reading {
  const stopping = new AbortController();
  const { signal } = stopping;
  let sweptAt = Number.NEGATIVE_INFINITY;

  async function runRound(): Promise<void> {
    while (!signal.aborted && (await history.continueDeletions()));
    if (signal.aborted || performance.now() - sweptAt < sweepIntervalMs) return;
    await history.sweep();
    sweptAt = performance.now();
  }

  async function runUntilStopped(): Promise<void> {
    while (!signal.aborted) {
      await runRound().catch((error: unknown) =>
        log.warn({ op: "history.upkeep", err: error }, "old history is not deleted yet, trying again in a moment"),
      );
      await pause(everyMs, signal);
    }
  }

  const running = runUntilStopped();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
