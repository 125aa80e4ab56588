import type { OperationContext, SyncOperation } from "./context.ts";

interface Meter {
  leftMs: number;
  at: number;
}

const burstMs = 2000;
const share = 0.25;

/**
 * Synchronous operations run on the event loop that all isolates of the process share. Each isolate may use a quarter of it, after
 * a burst of two seconds; beyond that it is told to use the asynchronous form.
 */
export function metered(operation: SyncOperation): SyncOperation {
  return (context, args) => {
    const meter = meterOf(context);
    const start = performance.now();
    meter.leftMs = Math.min(burstMs, meter.leftMs + (start - meter.at) * share);
    meter.at = start;
    if (meter.leftMs <= 0) {
      throw Object.assign(
        new Error(
          "synchronous cryptography and compression took more than a quarter of the time for too long: use the asynchronous functions",
        ),
        { code: "limit_exceeded" },
      );
    }
    try {
      return operation(context, args);
    } finally {
      meter.leftMs -= performance.now() - start;
    }
  };
}

function meterOf(context: OperationContext): Meter {
  const known = context.state.get("sync:meter");
  if (known !== undefined) return known as Meter; // only written below
  const meter = { leftMs: burstMs, at: performance.now() };
  context.state.set("sync:meter", meter);
  return meter;
}
