import { readdirSync } from "node:fs";
import { setPriority } from "node:os";

/**
 * Steps of `nice`: a thread five steps below another gets about a third of what that one gets of a busy core. More would starve isolates
 * where other programs share the machine.
 */
const threadNice = 5;
/** Of a process of those who are kept apart: isolates of others come first, too, and not by a third. */
const apartNice = 10;

/**
 * Lets all threads of a process but its main one compute when nobody else wants to: isolates compute there, and whatever carries their
 * runs to and fro must not queue behind user code. Threads come as isolates need them, so `lower` is called now and then.
 */
export class ThreadPriorities {
  readonly #pid: number | undefined;
  readonly #nice: number;
  #known = new Set<string>();

  /** @param isApart the main thread, too, computes when nobody else wants to */
  constructor(pid: number | undefined, isApart: boolean) {
    this.#pid = pid;
    this.#nice = isApart ? apartNice : threadNice;
    if (isApart && pid !== undefined) lowerPriority(pid, this.#nice); // Its threads to come inherit it.
  }

  lower(): void {
    const threads = threadsOf(this.#pid);
    for (const thread of threads) if (thread !== String(this.#pid) && !this.#known.has(thread)) lowerPriority(Number(thread), this.#nice);
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
function lowerPriority(thread: number, nice: number): void {
  try {
    setPriority(thread, nice);
  } catch {
    // It has ended.
  }
}
