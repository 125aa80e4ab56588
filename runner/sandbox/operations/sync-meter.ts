import { setTimeout as sleep } from "node:timers/promises";
import type { OperationContext, SyncOperation } from "./context.ts";
import { clearOpensslErrors } from "./crypto/openssl-errors.ts";

interface Meter {
  leftMs: number;
  at: number;
}

const burstMs = 2000;
const share = 0.25;
const maxOwners = 10_000;
/** By owner, so that more isolates do not mean a larger share. The most recently charged owner is last. */
const meters = new Map<string, Meter>();

/**
 * Synchronous operations run on the event loop that all isolates of the process share. Each owner may use a quarter of it, after a burst
 * of two seconds. Beyond that, operations throw an error that names the asynchronous functions.
 */
export function metered(operation: SyncOperation): SyncOperation {
  return (context, args) => {
    const meter = meterOf(context);
    if (meter.leftMs <= 0) {
      throw Object.assign(
        new Error(
          "synchronous cryptography and compression took more than a quarter of the time for too long: use the asynchronous functions",
        ),
        { code: "limit_exceeded" },
      );
    }
    const start = performance.now();
    try {
      return operation(context, args);
    } finally {
      clearOpensslErrors();
      meter.leftMs -= performance.now() - start;
    }
  };
}

/** The same for work of the host that is a part of something asynchronous. */
export function charged<Result>(context: OperationContext, work: () => Result): Result {
  return metered(work)(context, []) as Result; // what `work` returned
}

/** Charges what cannot be measured where it happens; false when it was more than the owner had left. */
export function charge(context: OperationContext, ms: number): boolean {
  const meter = meterOf(context);
  meter.leftMs -= ms;
  return meter.leftMs > 0;
}

/** Waits until the owner's debt is paid off: what can wait is not refused. Rejects when the run ends before. */
export async function outOfDebt(context: OperationContext, signal = context.signal): Promise<void> {
  for (let { leftMs } = meterOf(context); leftMs <= 0; { leftMs } = meterOf(context))
    await sleep(Math.min(-leftMs / share + 10, 60_000), undefined, { signal });
}

function meterOf({ owner }: OperationContext): Meter {
  const meter = meters.get(owner) ?? { leftMs: burstMs, at: performance.now() };
  const now = performance.now();
  meter.leftMs = Math.min(burstMs, meter.leftMs + (now - meter.at) * share);
  meter.at = now;
  meters.delete(owner);
  meters.set(owner, meter);
  const [oldest] = meters.keys();
  if (meters.size > maxOwners && oldest !== undefined) meters.delete(oldest);
  return meter;
}
