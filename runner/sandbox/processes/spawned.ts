import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { sandboxProfile } from "../jail/profiles.ts";
import type { ProcessStart, ProcessUsage } from "./port.ts";
import { ThreadPriorities } from "./priority.ts";
import { UsageReader, unknownUsage } from "./process-usage.ts";

const priorityPollMs = 100;

/** A sandbox process that this process has started. */
export class SpawnedProcess {
  /** Undefined if `spawn` threw. */
  readonly child: ChildProcess | undefined;
  readonly #onExit: (how: string) => void;
  #usage: UsageReader | undefined;
  #timer: NodeJS.Timeout | undefined;
  #killReason: string | undefined;

  /**
   * Most failures (no processes, no file descriptors, no executable) arrive as an `error` event; a few, such as no memory, are thrown.
   * Both are reported to `onExit`.
   *
   * @param outputs its descriptors from 2 on
   */
  constructor({ command, isLowPriority, onExit }: ProcessStart, outputs: readonly ("pipe" | number)[]) {
    this.#onExit = onExit;
    const [program = "", ...args] = command;
    try {
      const stdio: StdioOptions = ["ignore", "ignore", ...outputs];
      // Half of the threads compute for components (`operations/slots.ts`); the others read files. Node's default of four ran out.
      this.child = spawn(program, args, { env: { UV_THREADPOOL_SIZE: "12" }, stdio });
    } catch (error) {
      queueMicrotask(() => onExit(String(error)));
      return;
    }
    this.#watch(this.child, isLowPriority);
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  measure(): ProcessUsage {
    return this.#usage?.read() ?? unknownUsage();
  }

  kill(): void {
    this.child?.kill("SIGKILL");
  }

  #watch(child: ChildProcess, isLowPriority: boolean): void {
    child.on("error", (error) => {
      if (child.pid === undefined) this.#end(error.message);
      else this.kill();
    });
    child.on("exit", (code, signal) => this.#end(this.#killReason ?? signal ?? `exit code ${code}`));
    if (child.pid !== undefined) this.#usage = new UsageReader(child.pid);
    const priorities = new ThreadPriorities(child.pid, isLowPriority);
    this.#timer = setInterval(() => this.#limitThreads(priorities.lower()), priorityPollMs);
  }

  #limitThreads(threads: number): void {
    if (threads <= sandboxProfile.limits.threads) return;
    this.#killReason ??= `too many threads (${threads})`;
    this.kill();
  }

  #end(how: string): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#usage?.close();
    this.#usage = undefined;
    this.#onExit(how);
  }
}
