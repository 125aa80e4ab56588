import type { GuestContext } from "./context.ts";
import { limitError } from "./run-error.ts";

export interface ActiveContext {
  readonly context: GuestContext;
  readonly cpuMsBefore: number;
  /** Epoch of the process, ms. */
  readonly since: number;
  /** Called once when nothing computes in it. */
  onPause: (() => void) | undefined;
}

/** A shorter run that waits is not reported: most are over by then. */
const minReportedMs = 50;
const pausePollMs = 25;

/** Contexts of a child in which an execution is in progress. */
export class ActiveContexts {
  readonly #active = new Set<ActiveContext>();
  /** Runs only while a context is active, so that a child without runs does not wake up. */
  #timer: NodeJS.Timeout | undefined;

  get size(): number {
    return this.#active.size;
  }

  add(active: ActiveContext): void {
    this.#active.add(active);
    this.#timer ??= setInterval(() => this.#reportPauses(), pausePollMs);
  }

  delete(active: ActiveContext): void {
    this.#active.delete(active);
  }

  /** Ends runs that have used up their CPU time, however often they paused. */
  enforceCpuLimit(maxCpuMs: number): void {
    const error = limitError("cpu_limit", `the run used more than ${maxCpuMs} ms of CPU time, the limit`);
    for (const { context, cpuMsBefore } of this.#active) if (context.cpuMs() - cpuMsBefore > maxCpuMs) context.limit(error);
  }

  /** Reports runs that have lasted a moment and wait for I/O: the scheduler may begin others of their owner. */
  #reportPauses(): void {
    if (this.#active.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const startedBefore = performance.now() - minReportedMs;
    for (const each of this.#active) {
      if (each.onPause === undefined || each.since > startedBefore || each.context.isComputing) continue;
      each.onPause();
      each.onPause = undefined;
    }
  }
}
