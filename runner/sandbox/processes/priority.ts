import { readdirSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/**
 * Steps of `nice`. A thread five steps below another gets about a third of what that one gets of a busy core. A larger distance would
 * starve isolates where other programs share the machine.
 */
const threadNice = 5;
/** For a suspect's child: the isolates of all other owners go first. */
const lowPriorityNice = 10;
/** The lowest priority of Linux. */
const maxNice = 19;

/**
 * Lowers the priority of all threads of a child but its main one: isolates compute in them, and the main thread, which carries the
 * messages of every run, must not queue behind user code. Threads are created as isolates need them, so `lower` is called regularly.
 */
export class ThreadPriorities {
  readonly #pid: number | undefined;
  readonly #nice: number;
  #known = new Set<string>();

  /** @param isLowPriority lowers the main thread too */
  constructor(pid: number | undefined, isLowPriority: boolean) {
    this.#pid = pid;
    this.#nice = Math.min(maxNice, priorityOf(pid) + (isLowPriority ? lowPriorityNice : threadNice));
    if (isLowPriority && pid !== undefined) lowerPriority(pid, this.#nice); // Its new threads inherit it.
  }

  /** @returns how many threads the child has */
  lower(): number {
    const threads = threadsOf(this.#pid);
    for (const thread of threads) if (thread !== String(this.#pid) && !this.#known.has(thread)) lowerPriority(Number(thread), this.#nice);
    this.#known = new Set(threads);
    return threads.length;
  }
}

/** To the scheduler of Linux a thread is a process. Other systems have no such list. */
function threadsOf(pid: number | undefined): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** That of its parent, which may run at a low priority itself. */
function priorityOf(pid: number | undefined): number {
  try {
    return pid === undefined ? 0 : getPriority(pid);
  } catch {
    return 0; // It has ended.
  }
}

/** @param thread id of a thread; that of a process is its first thread */
function lowerPriority(thread: number, nice: number): void {
  try {
    setPriority(thread, nice);
  } catch {
    // It has ended.
  }
}
