import type { ChildProcess } from "node:child_process";
import { Watchdog, type EndSignal } from "./watchdog.ts";

const own = new Map<ChildProcess, EndSignal>();
let watchdog: Watchdog | undefined;

/**
 * Remembers a child until it has exited, so that nothing is left when this process ends before it knows what it has started.
 *
 * @param endSignal what a watchdog sends it when this process has died
 */
export function owned(child: ChildProcess, endSignal?: EndSignal): ChildProcess {
  own.set(child, endSignal);
  const { pid } = child;
  if (pid !== undefined) watchdog?.watch(pid, endSignal);
  child.once("exit", () => {
    own.delete(child);
    if (pid !== undefined) watchdog?.forget(pid);
  });
  return child;
}

/** From now on a watchdog ends our children when this process dies, by SIGKILL for instance. */
export function guardOwnChildren(): void {
  watchdog ??= new Watchdog();
  for (const [{ pid }, endSignal] of own) if (pid !== undefined) watchdog.watch(pid, endSignal);
}

/** Kills them at once; what they keep survives that. */
export function killOwnChildren(): void {
  for (const child of own.keys()) child.kill("SIGKILL");
}
