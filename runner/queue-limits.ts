import type { RunLimits } from "./fair-order.ts";

export interface QueueSize {
  /** Processes that hold isolates. */
  readonly children: number;
  /** Runs of one owner at once. */
  readonly ownerRuns: number;
}

/** Executions of one child at once: more would wait there, where nobody's turn counts. */
const runsOfChild = 200;
/** As many short runs as keep the cores, the disk and the way between them busy; what is more only waits. */
const freshRuns = 96;
/** A neighbour's next run waits for these, at a fraction of a millisecond each. */
const ownerPresentRuns = 8;
/** For each core, ms: of trivial runs as many as there may be, also where the machine is busy and each takes longer; one that emits half a megabyte. */
const ownerPresentMs = 16;

export function queueLimits({ children, ownerRuns }: QueueSize): RunLimits {
  const runs = runsOfChild * children;
  return {
    runs,
    ownerRuns: Math.min(ownerRuns, runs),
    freshRuns,
    ownerPresentRuns,
    ownerPresentMs: ownerPresentMs * children,
    // Whoever computes for long beside others gets half of the cores.
    ownerCostlyRuns: Math.max(1, Math.floor(children / 2)),
  };
}
