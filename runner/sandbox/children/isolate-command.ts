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
