import type { ChildProcess } from "node:child_process";
import { Watchdog, type EndSignal } from "./watchdog.ts";

const own = new Map<ChildProcess, EndSignal>();
let watchdog: Watchdog | undefined;

/**
 * Tracks a child until it exits, so that none is left if this process ends before the caller has stored it.
 * @param endSignal sent by the watchdog if this process dies
 */
export function tracked(child: ChildProcess, endSignal?: EndSignal): ChildProcess {
  own.set(child, endSignal);
  const { pid } = child;
  if (pid !== undefined) watchdog?.watch(pid, endSignal);
  child.once("exit", () => {
    own.delete(child);
    if (pid !== undefined) watchdog?.forget(pid);
  });
  return child;
}

/** Starts a watchdog that ends our children when this process dies, for instance by SIGKILL. */
export function guardOwnChildren(): void {
  watchdog ??= new Watchdog();
  for (const [{ pid }, endSignal] of own) if (pid !== undefined) watchdog.watch(pid, endSignal);
}

/** Kills all children at once; their data survives that. */
export function killOwnChildren(): void {
  for (const child of own.keys()) child.kill("SIGKILL");
}
