import type { ChildProcess } from "node:child_process";
import type { Duplex, Readable } from "node:stream";
import type { SandboxProcess, SandboxProcesses } from "./port.ts";
import { SpawnedProcess } from "./spawned.ts";

/** Sandbox processes as children of this process. */
export const localProcesses: SandboxProcesses = {
  isRoot: process.getuid?.() === 0,
  start: (start): SandboxProcess => {
    const spawned = new SpawnedProcess(start, ["pipe", "pipe", "pipe"]);
    // Node makes all of them sockets. Without descriptors it returns a process that has no `stdio` at all.
    const stdio = spawned.child?.stdio as ChildProcess["stdio"] | undefined;
    const [, , stderr, channel, descriptors] = stdio ?? [];
    return {
      get pid() {
        return spawned.pid;
      },
      channel: (channel ?? undefined) as Duplex | undefined,
      descriptors: (descriptors ?? undefined) as Duplex | undefined,
      stderr: (stderr ?? undefined) as Readable | undefined,
      measure: (onUsage) => onUsage(spawned.measure()),
      kill: () => spawned.kill(),
    };
  },
};
