import type { Invocation, TimerEvent } from "../domain/invocation.ts";
import { dueAtOf } from "../domain/ticks.ts";

/**
 * What `run` receives. A tick's timestamp is the moment it was due: told by its invocation when it is a link of a chain, else the
 * moment the server's schedule stored it. In epoch seconds, as components expect it.
 */
export function receivedEvent(invocation: Invocation, storedAt: number): unknown {
  if (invocation.trigger !== "timer") return invocation.event ?? null;
  const timer = invocation.event as Omit<TimerEvent, "timestamp">; // Written by the operator from a validated schedule.
  return { timestamp: Math.floor(dueAtOf(invocation, storedAt) / 1000), ...timer };
}
