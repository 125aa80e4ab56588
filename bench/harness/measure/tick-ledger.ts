import { percentile } from "./statistics.ts";

export interface TicksOfSource {
  /** Epoch ms of one due tick; all others are whole intervals away. */
  readonly phaseMs: number;
  /** Epoch ms at which its runs started. */
  readonly startedAt: readonly number[];
}

export interface TickCount {
  readonly expected: number;
  readonly missed: number;
  readonly doubled: number;
  readonly lateP50Ms: number;
  readonly lateP99Ms: number;
  readonly lateMaxMs: number;
}

/**
 * Compares runs with the ticks due in a window (its start included, its end not). A run answers the last tick that was due when it
 * started; one that starts a little early by the difference of two clocks still counts for its tick.
 */
export function countTicks(
  sources: readonly TicksOfSource[],
  intervalMs: number,
  window: { readonly fromMs: number; readonly toMs: number },
): TickCount {
  const early = 50;
  const late: number[] = [];
  let [expected, missed, doubled] = [0, 0, 0];
  for (const { phaseMs, startedAt } of sources) {
    const runsByTick = new Map<number, number[]>();
    for (const at of startedAt) {
      const tick = Math.floor((at + early - phaseMs) / intervalMs);
      runsByTick.set(tick, [...(runsByTick.get(tick) ?? []), at]);
    }
    const first = Math.ceil((window.fromMs - phaseMs) / intervalMs);
    for (let tick = first; phaseMs + tick * intervalMs < window.toMs; tick++) {
      const runs = runsByTick.get(tick) ?? [];
      expected++;
      if (runs.length === 0) missed++;
      if (runs.length > 1) doubled++;
      if (runs[0] !== undefined) late.push(Math.max(0, runs[0] - (phaseMs + tick * intervalMs)));
    }
  }
  return {
    expected,
    missed,
    doubled,
    lateP50Ms: percentile(late, 0.5),
    lateP99Ms: percentile(late, 0.99),
    lateMaxMs: percentile(late, 1),
  };
}
