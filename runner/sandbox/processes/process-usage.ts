import { closeSync, openSync, readSync } from "node:fs";
import type { ProcessUsage } from "./port.ts";

const pageBytes = 4096;
/** Linux counts CPU time for programs in hundredths of a second. */
const tickMs = 10;
/** Longer than a line of `stat` and of `statm`. */
const line = Buffer.alloc(1024);

/**
 * Reads the memory and CPU time of a process from Linux's /proc. The files stay open, because a single run of a child is measured when it
 * begins, and opening a file costs several times as much as reading it.
 */
export class UsageReader {
  readonly #pid: number;
  #statm: number | undefined;
  #stat: number | undefined;
  #isClosed = false;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** A file that cannot be opened, as without a free descriptor, is tried again by the next read. */
  read(): ProcessUsage {
    if (this.#isClosed) return unknownUsage();
    this.#statm ??= open(`/proc/${this.#pid}/statm`);
    // Of the thread that answers, whose id is that of the process.
    this.#stat ??= open(`/proc/${this.#pid}/task/${this.#pid}/stat`);
    return { residentBytes: this.#residentBytes(), mainThreadCpuMs: this.#mainThreadCpuMs() };
  }

  close(): void {
    for (const file of [this.#statm, this.#stat]) if (file !== undefined) closeSync(file);
    this.#isClosed = true;
  }

  /** 0 if the process has ended, or without /proc: then the container's limit is all there is. */
  #residentBytes(): number {
    return Number(lineOf(this.#statm)?.split(" ")[1] ?? 0) * pageBytes;
  }

  /** Without /proc, as if the thread computed all the time. */
  #mainThreadCpuMs(): number {
    const stat = lineOf(this.#stat);
    if (stat === undefined) return performance.now();
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  }
}

/** Of a process that has not started or has ended: as if it computed all the time. */
export const unknownUsage = (): ProcessUsage => ({ residentBytes: 0, mainThreadCpuMs: performance.now() });

function open(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch {
    return undefined;
  }
}

function lineOf(file: number | undefined): string | undefined {
  try {
    return file === undefined ? undefined : line.toString("latin1", 0, readSync(file, line, 0, line.length, 0));
  } catch {
    return undefined; // The process has ended.
  }
}
