import { assertNever } from "../errors.ts";

/** A tick is late if its run starts more than this after the tick was due. */
export const lateAfterMs = 1_000;
/** Maximum skipped ticks that a run records. */
export const maxReportedSkips = 100;

export const tickStates = ["fired", "late", "skipped"] as const;
export type TickState = (typeof tickStates)[number];

/** `waited`: for an earlier run of its source, its owner's share or a runner. `earlier_tick_unfinished`: an earlier tick was queued or running. */
export const tickReasons = ["waited", "earlier_tick_unfinished"] as const;
export type TickReason = (typeof tickReasons)[number];

/** A tick that was due while its source was active. */
export interface Tick {
  /** `<due, epoch ms>-<number>`. */
  readonly id: string;
  /** Epoch ms. */
  readonly dueAt: number;
  /** Its run; null: it was skipped. */
  readonly run: { readonly id: string; /** Epoch ms. */ readonly startedAt: number } | null;
}

/** When a tick was due, epoch ms: a link of a chain contains it, any other tick was due when NATS stored it. */
export const dueAtOf = ({ at }: { readonly at?: number }, storedAt: number): number => at ?? storedAt;

export function tickStateOf({ dueAt, run }: Tick): TickState {
  if (run === null) return "skipped";
  return run.startedAt - dueAt > lateAfterMs ? "late" : "fired";
}

export function tickReasonOf(state: TickState): TickReason | null {
  switch (state) {
    case "fired":
      return null;
    case "late":
      return "waited";
    case "skipped":
      return "earlier_tick_unfinished";
    default:
      return assertNever(state);
  }
}
