/** What an owner may use of a day; null is as much as one likes. */
export interface Quotas {
  readonly dailyInvocations: number | null;
  readonly dailyComputeMs: number | null;
}

/** What an owner's commits add up to. */
export interface Use {
  readonly runs: number;
  readonly computeMs: number;
}

/** Epoch ms; `endMs` is the first that is not of it. */
export interface Period {
  readonly startMs: number;
  readonly endMs: number;
}

const dayMs = 86_400_000;

/** The day in UTC by which quotas are counted; a run is of the day on which it began. */
export function dayOf(ms: number): Period {
  const startMs = Math.floor(ms / dayMs) * dayMs;
  return { startMs, endMs: startMs + dayMs };
}

/** The calendar month in UTC: a whole number of the days by which use is counted. */
export function billingPeriodOf(ms: number): Period {
  const at = new Date(ms);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  return { startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) };
}

/** Whether nothing is left of the day. The run that uses up what is left may go beyond it: what it takes is known when it ends. */
export function isUsedUp({ dailyInvocations, dailyComputeMs }: Quotas, { runs, computeMs }: Use): boolean {
  return (dailyInvocations !== null && runs >= dailyInvocations) || (dailyComputeMs !== null && computeMs >= dailyComputeMs);
}

/** Epoch ms from which on there is something left again; null when there is now. `use` is that of the day of `now`. */
export function exceededUntil(quotas: Quotas, use: Use, now: number): number | null {
  return isUsedUp(quotas, use) ? dayOf(now).endMs : null;
}
