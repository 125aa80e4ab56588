import { mkdir, realpath } from "node:fs/promises";
import { chooseJail } from "../jail/choose-jail.ts";
import { sandboxProfile } from "../jail/profiles.ts";
import type { ChildSettings } from "./child-settings.ts";
import { buildPrograms } from "./child-script.ts";
import { makeCodeCaches } from "./code-caches.ts";
import { isolateCommand } from "./isolate-command.ts";
import { Connector } from "../network/connector.ts";
import { canPassDescriptors } from "../network/passed-descriptors.ts";
import { timeLimits } from "../limits.ts";
import { localProcesses } from "../processes/local.ts";
import { buildGuestScripts } from "../isolate/guest-scripts.ts";
import type { SandboxOptions } from "../sandbox-options.ts";

export interface PreparedChildren {
  readonly child: Omit<ChildSettings, "onReady" | "onLost" | "onExit" | "isLowPriority">;
  /** Warm isolates that all children have evicted so far to make room for others. */
  readonly evictions: () => number;
}

/** Builds the children's program, the guest's scripts and their code caches unless they are cached, and derives the settings of every child. */
export async function prepareChildren(options: SandboxOptions): Promise<PreparedChildren> {
  await Promise.all([mkdir(options.cacheDirectory, { recursive: true }), mkdir(options.bundleDirectory, { recursive: true })]);
  const cacheDirectory = await realpath(options.cacheDirectory);
  const [scripts, programs] = await Promise.all([buildGuestScripts(cacheDirectory), buildPrograms(cacheDirectory)]);
  const readable = await readablePaths(programs.packages, cacheDirectory, options.bundleDirectory);
  await makeCodeCaches(programs.cacheMaker, scripts, readable).catch((error: unknown) =>
    // Without the files every child compiles the scripts itself: slower, not wrong.
    options.logger?.warn({ op: "sandbox.code_caches", error: String(error) }),
  );
  const processes = options.processes ?? localProcesses;
  const chosen = await chooseJail({
    isRoot: processes.isRoot,
    mode: options.jail ?? "auto",
    launcher: programs.launcher,
    profile: sandboxProfile,
    user: "own",
    readable,
    processes: "sandbox processes",
    logger: options.logger,
    findJailFailure: options.findJailFailure,
  });
  const { allow, server } = options.egress;
  let evictions = 0;
  const child = {
    processes,
    command: () => {
      const command = isolateCommand(programs.child, readable);
      return chosen === undefined ? command : chosen.jail(readable, command);
    },
    child: {
      ...scripts,
      ...(!(options.parentConnects ?? canPassDescriptors) && { egress: { allow, server } }),
      memoryBudgetBytes: (options.memoryBudgetMb ?? 384) * 2 ** 20,
      timeLimits: { ...timeLimits, ...options.timeLimits },
      ...(options.debug && { debug: { waits: options.debug.waits } }),
    },
    // Node's default of four threads, unless the environment says otherwise.
    connector: new Connector(options.egress, Number(process.env["UV_THREADPOOL_SIZE"]) || 4, options.dial),
    dataStores: options.dataStores,
    runFiles: options.runFiles,
    debug: options.debug,
    residentLimitBytes: (options.residentLimitMb ?? 2048) * 2 ** 20,
    onStderr: (text: string) => options.logger?.warn({ op: "sandbox.child_stderr", text }),
    onEvictions: (count: number) => {
      evictions += count;
    },
  };
  return { child, evictions: () => evictions };
}

/** Code, the guest's scripts and bundles; nothing else. */
async function readablePaths(packages: readonly string[], cacheDirectory: string, bundleDirectory: string): Promise<readonly string[]> {
  // isolated-vm's loader checks for Alpine.
  return [...packages, "/etc/alpine-release", cacheDirectory, bundleDirectory, await realpath(bundleDirectory)];
}
