import { useSyncExternalStore } from "react";
import { formatRelative, formatTime } from "./format.ts";

const everyMs = 10_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** One clock for all times of the page. */
function subscribe(listener: () => void): () => void {
  now = Date.now();
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, everyMs);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** A time relative to now, with the absolute one on hover. @param ms epoch milliseconds */
export function Time({ ms }: { readonly ms: number }) {
  const current = useSyncExternalStore(subscribe, () => now);
  return (
    <time dateTime={new Date(ms).toISOString()} title={formatTime(ms)} className="min-[12rem]:whitespace-nowrap">
      {formatRelative(ms, Math.max(current, ms > current && ms - current < everyMs ? ms : current))}
    </time>
  );
}
