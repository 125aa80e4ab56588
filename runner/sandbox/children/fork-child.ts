import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import type { Jail } from "../jail/jail.ts";

export interface ForkedChild {
  readonly process: ChildProcess;
  /** Carries the frames of both directions. Undefined if no descriptor was left for it; then `process` emits an `error`. */
  readonly channel: Duplex | undefined;
  /** Takes descriptors of connected sockets for the child; nothing is read from it. */
  readonly descriptors: Duplex | undefined;
}

/** Node's command for a process that has isolates. V8 uses a code cache only in a process with the flags of the one that made it. */
export function isolateCommand(
  script: string,
  readable: readonly string[],
  writable: readonly string[] = [],
): readonly [string, ...string[]] {
  return [
    process.execPath,
    // isolated-vm shares a heap between the isolates of a process, and they must all come from one snapshot.
    "--no-node-snapshot",
    // The young generation of each isolate: docs/operations.md, "Memory".
    "--max-semi-space-size=2",
    // Collects idle isolates, see collect-garbage.ts.
    "--expose-gc",
    "--permission",
    "--allow-addons",
    // Node needs it even for sockets that it is given. The jail keeps a child from making its own.
    "--allow-net",
    ...readable.map((path) => `--allow-fs-read=${path}`),
    ...writable.map((path) => `--allow-fs-write=${path}`),
    "--disable-warning=SecurityWarning",
    "--disable-warning=ExperimentalWarning",
    script,
  ];
}

/**
 * Starts a sandbox child under Node's permission model, in a jail if one is given.
 *
 * Most failures (no processes, no file descriptors, no executable) arrive as an `error` event; a few, such as no memory, are thrown.
 *
 * @param readable directories and files the child may read
 */
export function forkChild(script: string, readable: readonly string[], jail: Jail | undefined): ForkedChild {
  const command = isolateCommand(script, readable);
  const [program = "", ...args] = jail === undefined ? command : jail(readable, command);
  const child = spawn(program, args, {
    // Half of the threads compute for components (`operations/slots.ts`); the others read files. Node's default of four ran out.
    env: { UV_THREADPOOL_SIZE: "12" },
    stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
  });
  // Node makes descriptors 3 and 4 sockets of both directions. Without descriptors it returns a process that has no `stdio` at all.
  const stdio = child.stdio as ChildProcess["stdio"] | undefined;
  const [, , , channel, descriptors] = stdio ?? [];
  return {
    process: child,
    channel: (channel ?? undefined) as Duplex | undefined,
    descriptors: (descriptors ?? undefined) as Duplex | undefined,
  };
}
