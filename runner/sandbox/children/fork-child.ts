import { type ChildProcess, fork } from "node:child_process";

/**
 * Forks a sandbox child under Node's permission model.
 *
 * Most failures (no processes, no file descriptors, no executable) arrive as an `error` event; a few, such as no memory, are thrown.
 *
 * @param readable directories and files the child may read
 */
export function forkChild(script: string, readable: readonly string[]): ChildProcess {
  const execArgv = [
    // isolated-vm shares a heap between the isolates of a process, and they must all come from one snapshot.
    "--no-node-snapshot",
    // The young generation of each isolate: docs/operations.md, "Memory".
    "--max-semi-space-size=2",
    // Collects idle isolates, see isolate-memory.ts.
    "--expose-gc",
    "--permission",
    "--allow-addons",
    ...readable.map((path) => `--allow-fs-read=${path}`),
    "--disable-warning=SecurityWarning",
    "--disable-warning=ExperimentalWarning",
  ];
  return fork(script, [], {
    execArgv,
    // Half of the threads resolve names, half compute for components (`operations/slots.ts`). Node's default of four ran out.
    env: { UV_THREADPOOL_SIZE: "12" },
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
}
