import { post } from "./bridge.ts";

const now = Date.now;
let run = 0;

/** A run begins; what an earlier one left behind in a warm isolate must not answer for it. */
export function beginRun(): void {
  run += 1;
}

/**
 * For what belongs to one run, made while it begins: tells whether it is still that run. A promise that a run did not await may go on
 * in a later one: its answer, which is another request's, is dropped, and the later run's log says so.
 */
export function stillRunning(): (what: string) => boolean {
  const mine = run;
  return (what) => {
    if (mine === run) return true;
    post("log", "console.warn", `${what} of an earlier run came after its end and is dropped: await all promises in run`, now());
    return false;
  };
}
