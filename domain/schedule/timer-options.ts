import { hash } from "../hash.ts";
import { InvalidInput } from "../errors.ts";

/**
 * What a timer of a workflow does when a tick is due while the last run that it has started has not ended. A suspended run has not ended.
 *
 * | value | the tick |
 * |---|---|
 * | allow | starts a run beside it |
 * | skip | starts none, and is listed as skipped |
 * | queue | waits until it has ended; of the ticks that are due in the meantime, the last one follows |
 * | cancel | cancels it, and starts its run when it has ended |
 */
export const overlaps = ["allow", "skip", "queue", "cancel"] as const;
export type Overlap = (typeof overlaps)[number];

export interface TimerOptions {
  /** A tick is due up to so many seconds after its time; absent: at its time. */
  readonly jitterSeconds?: number;
  /** Of a workflow's timer; absent: `allow`. */
  readonly overlap?: Overlap;
  /** Of a workflow's timer: maximum missed ticks that run, see docs/workflows.md. Absent: the last one after an outage, none of an inactive workflow. */
  readonly catchUp?: number;
}

export const jitterBounds = { minimum: 1, maximum: 86_400 } as const;
export const catchUpBounds = { minimum: 1, maximum: 100 } as const;

/** @throws InvalidInput */
export function parseJitter(value: unknown): Pick<TimerOptions, "jitterSeconds"> {
  const seconds = integerIn("jitterSeconds", value, jitterBounds);
  return seconds === undefined ? {} : { jitterSeconds: seconds };
}

/** @throws InvalidInput */
export function parseOverlap(value: unknown): Pick<TimerOptions, "overlap"> {
  if (value === undefined || value === null) return {};
  const overlap = overlaps.find((each) => each === value);
  if (overlap === undefined) throw new InvalidInput(`overlap ${JSON.stringify(value)} is invalid: it must be ${overlaps.join(", ")}`);
  return { overlap };
}

/** @throws InvalidInput */
export function parseCatchUp(value: unknown): Pick<TimerOptions, "catchUp"> {
  const ticks = integerIn("catchUp", value, catchUpBounds);
  return ticks === undefined ? {} : { catchUp: ticks };
}

function integerIn(field: string, value: unknown, { minimum, maximum }: { readonly minimum: number; readonly maximum: number }) {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= minimum && value <= maximum) return value;
  throw new InvalidInput(`${field} ${JSON.stringify(value)} is invalid: it must be an integer from ${minimum} to ${maximum}`);
}

/**
 * When a tick is due, epoch ms. Its delay follows from the timer and the tick, so it is the same when the tick is armed again.
 * @param timer name of the timer that is unique in the installation
 */
export function dueAtWithJitter({ jitterSeconds = 0 }: TimerOptions, timer: string, tickAt: number): number {
  return tickAt + (jitterSeconds === 0 ? 0 : hash(`${timer} ${tickAt}`) % (jitterSeconds * 1_000 + 1));
}
