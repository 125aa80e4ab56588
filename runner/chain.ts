import { nextTick, parseTimer, type TimerSchedule } from "../domain/schedule.ts";
import type { Deployment } from "../domain/deployment.ts";
import type { Received } from "./run.ts";
import type { RunnerPorts } from "./ports.ts";
import { mostSkipped } from "./skipped-links.ts";

/**
 * A cron timer in a zone that shifts is a chain of one-shot schedules: whoever answers a tick arms the next one, before the ack, so
 * that the chain cannot break. Of the ticks that fell due meanwhile the last one is made up for and the others are counted, so
 * that a source slower than its timer does not fall behind for ever. Only the deployment that the tick belongs to goes
 * on: a changed source has a chain of its own.
 */
export async function armNextLink(received: Received, deployment: Deployment, ports: Pick<RunnerPorts, "timers" | "clock">): Promise<void> {
  const { skippedTicks: _, ...invocation } = received.invocation;
  if (invocation.chain === undefined || !deployment.active || deployment.generation !== invocation.generation) return;
  const schedule = parseTimer(deployment.props[invocation.chain]);
  const { at, skipped } = nextLink(schedule, invocation.at ?? received.storedAt, ports.clock.now());
  await ports.timers.armAt(deployment.source, invocation.chain, at, {
    ...invocation,
    at,
    ...(skipped > 0 ? { skippedTicks: skipped } : {}),
  });
}

/** The last tick that is due by now, else the first one to come. */
function nextLink(schedule: TimerSchedule, afterMs: number, now: number): { readonly at: number; readonly skipped: number } {
  let at = nextTick(schedule, afterMs);
  let skipped = 0;
  for (let next = nextTick(schedule, at); next <= now; next = nextTick(schedule, at)) {
    if (++skipped >= mostSkipped) return { at: nextTick(schedule, now), skipped };
    at = next;
  }
  return { at, skipped };
}
