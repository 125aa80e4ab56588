import { assertNever } from "../errors.ts";

/** A tick is late if its run starts more than this after the tick was due. */
export const lateAfterMs = 1_000;
/** Maximum skipped ticks that a run records. */
export const maxReportedSkips = 100;

export const tickStates = ["fired", "late", "skipped"] as const;
export type TickState = (typeof tickStates)[number];

/** Why a tick was skipped. `earlier_tick_unfinished`: an earlier tick was queued, or its run had not ended. `missed`: Headwater was down. */
export const skipReasons = ["earlier_tick_unfinished", "missed"] as const;
export type SkipReason = (typeof skipReasons)[number];
/** `waited`: for an earlier run of its source, its owner's share or a runner. */
export const tickReasons = ["waited", ...skipReasons] as const;
export type TickReason = (typeof tickReasons)[number];

export interface SkippedTick {
  /** Epoch ms. */
  readonly dueAt: number;
  readonly reason: SkipReason;
}

/** A tick that was due while its source was active. */
export interface Tick {
  /** `<due, epoch ms>-<number>`. */
  readonly id: string;
  /** Epoch ms. */
  readonly dueAt: number;
  /** Its run; null: it was skipped. */
  readonly run: { readonly id: string; /** Epoch ms. */ readonly startedAt: number } | null;
  /** Why it was skipped; absent: `earlier_tick_unfinished`. */
  readonly skipReason?: SkipReason;
}

/** When a tick was due, epoch ms: a link of a chain contains it, any other tick was due when NATS stored it. */
export const dueAtOf = ({ at, dueAt = at }: { readonly at?: number; readonly dueAt?: number }, storedAt: number): number =>
  dueAt ?? storedAt;

/** The time of a tick in its event, epoch ms: without its jitter. */
export const tickTimeOf = ({ at }: { readonly at?: number }, storedAt: number): number => at ?? storedAt;

export function tickStateOf({ dueAt, run }: Pick<Tick, "dueAt" | "run">): TickState {
  if (run === null) return "skipped";
  return run.startedAt - dueAt > lateAfterMs ? "late" : "fired";
}

export function tickReasonOf(tick: Pick<Tick, "dueAt" | "run" | "skipReason">): TickReason | null {
  const state = tickStateOf(tick);
  switch (state) {
    case "fired":
      return null;
    case "late":
      return "waited";
    case "skipped":
      return tick.skipReason ?? "earlier_tick_unfinished";
    default:
      return assertNever(state);
  }
}
