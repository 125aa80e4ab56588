import type { Duplex, Readable } from "node:stream";

/** What a process uses now. */
export interface ProcessUsage {
  readonly residentBytes: number;
  /** CPU time of its main thread since it started, ms. */
  readonly mainThreadCpuMs: number;
}

/** A process of `SandboxProcesses`: what its parent can do with it. */
export interface SandboxProcess {
  /** In its own container. Undefined if there is none, or none yet. */
  readonly pid: number | undefined;
  /** Its descriptor 3: carries the frames of both directions. Undefined if there is no process; then `onExit` follows. */
  readonly channel: Duplex | undefined;
  /** Its descriptor 4: takes descriptors of connected sockets; nothing is read from it. */
  readonly descriptors: Duplex | undefined;
  readonly stderr: Readable | undefined;
  /** Calls back at once where the process is on this side, else with the next report of the other side. Not after its end. */
  measure(onUsage: (usage: ProcessUsage) => void): void;
  /** Sends SIGKILL. */
  kill(): void;
}

export interface ProcessStart {
  readonly command: readonly string[];
  /** Runs the whole process at a low CPU priority; otherwise only its threads but the main one. */
  readonly isLowPriority: boolean;
  /** The process has ended, or could not be started. Called once, after `start` has returned. */
  readonly onExit: (how: string) => void;
}

/**
 * Starts sandbox processes: of this process (`local.ts`), or of the process host in another container (`remote.ts`, decision 0133):
 *
 *     runner ── control: `start`, `kill` ◀──▶ `usage`, `exited` ── process host ── starts ──▶ child
 *        └───────────── channel and descriptors: sockets that the runner passed ────────────────┘
 */
export interface SandboxProcesses {
  /** Whether root starts the processes, so that each can become another user. */
  readonly isRoot: boolean;
  /** Never throws: a failed start is reported to `onExit`. */
  start(start: ProcessStart): SandboxProcess;
}
