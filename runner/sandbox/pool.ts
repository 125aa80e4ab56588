import { mkdir, realpath } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { Unavailable } from "../../domain/errors.ts";
import { buildChildScript } from "./child-script.ts";
import { SandboxChild, stopped } from "./child-process.ts";
import type { ChildrenSettings, SandboxChildren, SandboxLogger } from "./children.ts";
import { buildGuestScripts, replaceFile } from "./guest-scripts.ts";
import { Culprits } from "./culprits.ts";
import { OwnerChildren } from "./owner-children.ts";
import { OwnerSlots } from "./owner-slots.ts";
import type { Sandbox } from "./port.ts";
import { cachePath, type PreludeCaches } from "./protocol.ts";
import { startSharedChildren } from "./shared-children.ts";

export interface SandboxOptions {
  /** Keeps what is made once: the children's script, the guest's, and code caches. Ours alone: what lies there is believed. */
  readonly cacheDirectory: string;
  /** The bundles of requests lie below it. */
  readonly bundleDirectory: string;
  /** Default: one per core. Owners share them. */
  readonly children?: number;
  /** Above 0 takes the place of `children`: each owner's runs have a process of their own, at most so many at once. */
  readonly ownerProcesses?: number;
  /** Networks that may be reached although not public, as CIDR. */
  readonly egressAllow: readonly string[];
  /** Warm isolates of one child together, MB. Default 384. */
  readonly memoryBudgetMb?: number;
  /** A child that really uses more is killed, MB. Default 2048. */
  readonly residentLimitMb?: number;
  readonly logger?: SandboxLogger;
}

/** Starts the children and resolves when they can run. */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const settings = await prepare(options);
  const { children = availableParallelism(), ownerProcesses = 0 } = options;
  return ownerProcesses > 0
    ? poolOf(await OwnerChildren.start(ownerProcesses, settings), ownerProcesses, settings)
    : poolOf(await startSharedChildren(children, settings), children, settings);
}

function poolOf(children: SandboxChildren, count: number, settings: ChildrenSettings): Sandbox {
  // Half of them for one owner: processes that run what kills processes.
  const half = Math.max(1, Math.floor(count / 2));
  const aloneSlots = new OwnerSlots({ slots: count, ofOwner: half, alone: half });
  const alone = new Set<SandboxChild>();
  const running = new Set<Promise<unknown>>();
  let stopping = false;
  /** Runs may not even end any more. */
  let isOver = false;

  function track<Result>(work: Promise<Result>): Promise<Result> {
    running.add(work);
    // Followed for its end only; whoever asked sees the outcome.
    void work.finally(() => running.delete(work)).catch(() => {});
    return work;
  }

  const execute: Sandbox["execute"] = (request, ...told) => {
    if (stopping) return Promise.reject(stoppedError());
    return track(blaming(request.owner, request.alone === true ? executeAlone(request, ...told) : children.execute(request, ...told)));
  };

  async function blaming(owner: string, executing: ReturnType<Sandbox["execute"]>): ReturnType<Sandbox["execute"]> {
    const execution = await executing;
    if (execution.outcome === "limited" && (execution.costProcess === true || execution.error.code === "memory_limit"))
      settings.culprits.blame(owner);
    return execution;
  }

  async function executeAlone(...[request, ...told]: Parameters<Sandbox["execute"]>): ReturnType<Sandbox["execute"]> {
    await aloneSlots.take(request.owner);
    if (isOver) {
      aloneSlots.release(request.owner);
      throw stoppedError();
    }
    const child = new SandboxChild({ ...settings.child, givesWay: settings.culprits.has(request.owner), onLost: () => {} });
    alone.add(child);
    try {
      const execution = await child.execute(request, ...told);
      // Then it was ours: nothing is known of the run, which begins anew elsewhere.
      if (isOver && execution.outcome === "crashed") throw stoppedError();
      // Once it was ready, nothing else was in that process: there is no one else to blame.
      return execution.outcome === "crashed" && child.wasReady
        ? stopped("process_crashed", `the run ended its process: ${execution.message}`)
        : execution;
    } finally {
      alone.delete(child);
      child.kill();
      aloneSlots.release(request.owner);
    }
  }

  return {
    execute,
    inspect: (request) => (stopping ? Promise.reject(stoppedError()) : track(children.inspect(request))),
    evict: (source) => {
      for (const child of children.alive()) child.evict(source);
    },
    stats: () => ({
      children: children.alive().length + alone.size,
      isolates: children.alive().reduce((sum, child) => sum + child.isolates, 0),
      residentBytes: children.alive().reduce((sum, child) => sum + child.residentBytes, 0),
      evictions: settings.evictions(),
    }),
    stop: async (signal) => {
      stopping = true;
      await Promise.race([Promise.allSettled(running), aborted(signal)]);
      isOver = true;
      children.stop();
      for (const child of alone) child.kill();
      await Promise.allSettled(running);
    },
  };
}

async function prepare(options: SandboxOptions): Promise<ChildrenSettings> {
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
      // Without the files every child makes its own: slower, not wrong.
      writing = writeCaches(scripts.webPath, scripts.nodePath, caches).catch((error: unknown) =>
        options.logger?.warn({ op: "sandbox.cache_write", error: String(error) }),
      );
    },
    onStderr: (text: string) => options.logger?.warn({ op: "sandbox.child_stderr", text: text.slice(0, 2_000) }),
    onEvictions: (count: number) => {
      evictions += count;
    },
  };
  return { child, cachesWritten: () => writing, evictions: () => evictions, culprits: new Culprits(), logger: options.logger };
}

async function writeCaches(webPath: string, nodePath: string, caches: PreludeCaches): Promise<void> {
  await replaceFile(cachePath(webPath), caches.web);
  await replaceFile(cachePath(nodePath), caches.node);
}

/** Only code, the guest's scripts and bundles. */
async function readablePaths(packages: readonly string[], cacheDirectory: string, bundleDirectory: string): Promise<readonly string[]> {
  // isolated-vm's loader looks whether this is Alpine.
  return [...packages, "/etc/alpine-release", cacheDirectory, bundleDirectory, await realpath(bundleDirectory)];
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function stoppedError(): Unavailable {
  return new Unavailable("the sandbox is stopped", { code: "sandbox_stopped" });
}
