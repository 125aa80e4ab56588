/** Daily limits of an owner; null: unlimited. */
export interface Quotas {
  readonly dailyInvocations: number | null;
  readonly dailyComputeMs: number | null;
}

/** Total usage of an owner's commits. */
export interface Use {
  readonly runs: number;
  readonly computeMs: number;
}

/** Usage of a day. Only the first two fields have quotas. */
export interface DayUse extends Use {
  /** Events that were emitted. */
  readonly events: number;
  /** Deliveries to webhooks that succeeded. */
  readonly deliveries: number;
}

/** Epoch ms; `endMs` is exclusive. */
export interface Period {
  readonly startMs: number;
  readonly endMs: number;
}

const dayMs = 86_400_000;

/** The day in UTC for quotas; a run counts for the day of its start. */
export function dayOf(ms: number): Period {
  const startMs = Math.floor(ms / dayMs) * dayMs;
  return { startMs, endMs: startMs + dayMs };
}

/** The calendar month in UTC, which consists of whole quota days. */
export function billingPeriodOf(ms: number): Period {
  const at = new Date(ms);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  return { startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) };
}

/** Whether the daily quota is used up. The last run may exceed it, because its usage is known only at its end. */
export function isUsedUp({ dailyInvocations, dailyComputeMs }: Quotas, { runs, computeMs }: Use): boolean {
  return (dailyInvocations !== null && runs >= dailyInvocations) || (dailyComputeMs !== null && computeMs >= dailyComputeMs);
}

/** Epoch ms from which quota is available again; null if it is now. `use` is that of the day of `now`. */
export function exceededUntil(quotas: Quotas, use: Use, now: number): number | null {
  return isUsedUp(quotas, use) ? dayOf(now).endMs : null;
}
