import { readdirSync } from "node:fs";
import { setPriority } from "node:os";

/**
 * Steps of `nice`: a thread five steps below another gets about a third of what that one gets of a busy core. More would starve isolates
 * where other programs share the machine.
 */
const nice = 5;

/**
 * Lets all threads of a process but its main one compute when nobody else wants to: isolates compute there, and whatever carries their
 * runs to and fro must not queue behind user code. Threads come as isolates need them, so it is called now and then.
 */
export class ThreadPriorities {
  #known = new Set<string>();

  lower(pid: number | undefined): void {
    const threads = threadsOf(pid);
    for (const thread of threads) if (thread !== String(pid) && !this.#known.has(thread)) lowerPriority(Number(thread));
    this.#known = new Set(threads);
  }
}

/** A thread is a process to the scheduler of Linux; elsewhere there is no such list. */
function threadsOf(pid: number | undefined): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Of a thread; a process is its first one. */
export function lowerPriority(thread: number): void {
  try {
    setPriority(thread, nice);
  } catch {
    // It has ended.
  }
}
