import { mkdir, realpath } from "node:fs/promises";
import type { ChildSettings } from "./child-process.ts";
import { buildChildScript } from "./child-script.ts";
import { buildGuestScripts, replaceFile } from "../isolate/guest-scripts.ts";
import { cachePath, type PreludeCaches } from "./protocol.ts";
import type { SandboxOptions } from "../sandbox-options.ts";

export interface PreparedChildren {
  readonly child: Omit<ChildSettings, "onReady" | "onLost" | "onExit" | "isLowPriority">;
  /** Resolves once the code caches that a child has sent are on disk. */
  readonly cachesWritten: () => Promise<void>;
  /** Warm isolates that all children have evicted so far to make room for others. */
  readonly evictions: () => number;
}

/** Builds the children's program and the guest's scripts unless they are cached, and derives the settings of every child. */
export async function prepareChildren(options: SandboxOptions): Promise<PreparedChildren> {
  await Promise.all([mkdir(options.cacheDirectory, { recursive: true }), mkdir(options.bundleDirectory, { recursive: true })]);
  const cacheDirectory = await realpath(options.cacheDirectory);
  const [scripts, program] = await Promise.all([buildGuestScripts(cacheDirectory), buildChildScript(cacheDirectory)]);
  let writing: Promise<void> = Promise.resolve();
  let evictions = 0;
  const child = {
    script: program.path,
    child: {
      ...scripts,
      egressAllow: options.egressAllow,
      memoryBudgetBytes: (options.memoryBudgetMb ?? 384) * 2 ** 20,
    },
    readable: await readablePaths(program.packages, cacheDirectory, options.bundleDirectory),
    residentLimitBytes: (options.residentLimitMb ?? 2048) * 2 ** 20,
    onCaches: (caches: PreludeCaches) => {
      // Without the files every child makes its own caches: slower, not wrong.
      writing = writeCaches(scripts.webPath, scripts.nodePath, caches).catch((error: unknown) =>
        options.logger?.warn({ op: "sandbox.cache_write", error: String(error) }),
      );
    },
    onStderr: (text: string) => options.logger?.warn({ op: "sandbox.child_stderr", text: text.slice(0, 2_000) }),
    onEvictions: (count: number) => {
      evictions += count;
    },
  };
  return { child, cachesWritten: () => writing, evictions: () => evictions };
}

async function writeCaches(webPath: string, nodePath: string, caches: PreludeCaches): Promise<void> {
  await replaceFile(cachePath(webPath), caches.web);
  await replaceFile(cachePath(nodePath), caches.node);
}

/** Code, the guest's scripts and bundles; nothing else. */
async function readablePaths(packages: readonly string[], cacheDirectory: string, bundleDirectory: string): Promise<readonly string[]> {
  // isolated-vm's loader checks for Alpine.
  return [...packages, "/etc/alpine-release", cacheDirectory, bundleDirectory, await realpath(bundleDirectory)];
}
