import { post } from "./bridge.ts";

const now = Date.now;
let run = 0;

/** Whether the run is still current; if not, a warning in the log names what was called. */
export type IsRunning = (what: string) => boolean;

/** Starts a run: code left over from an earlier run in a warm isolate must not act for it. */
export function beginRun(): void {
  run += 1;
}

/**
 * Returns a check, created as a run begins: is that run still current? A promise that a run did not await may continue
 * during a later run: its response, which is for another request, is dropped, and the later run's log reports it.
 */
export function stillRunning(): IsRunning {
  const mine = run;
  return (what) => {
    if (mine === run) return true;
    post("log", "console.warn", `${what} of an earlier run came after its end and is dropped: await all promises in run`, now());
    return false;
  };
}
