import { mkdir, realpath } from "node:fs/promises";
import { systemClock, type Clock } from "../domain/clock.ts";
import type { ComponentCode } from "../domain/component/component-code.ts";
import type { Build } from "../domain/component/definition.ts";
import { Unavailable } from "../domain/errors.ts";
import { FairSemaphore } from "../domain/limits/fair-semaphore.ts";
import { build, buildKey, type BuildParts } from "./build.ts";
import { openBuildCache } from "./bundle/build-cache.ts";
import { collect } from "./collect/collect.ts";
import { collectLimits, type CollectLimits } from "./collect/limits.ts";
import { startDeadline } from "./deadline.ts";
import { createEsbuildLane } from "./bundle/esbuild-lane.ts";
import { defaultLimits, type BuildLimits } from "./limits.ts";
import { readNpmConfig, type NpmConfig } from "./npm/config.ts";
import type { PerformInstall } from "./npm/install.ts";
import { openPackageStore } from "./npm/package-store.ts";
import type { Addresses, BuilderPorts, BuildRequest } from "./ports.ts";

export interface BuilderOptions extends BuilderPorts {
  /** Directory of everything on disk: packages, npm's cache, bundles. Losing it only costs time. */
  readonly directory: string;
  readonly limits?: Partial<BuildLimits>;
  readonly collectLimits?: Partial<CollectLimits>;
  /** Registry and credentials; without it, npm's own configuration. */
  readonly npm?: NpmConfig;
  /** Default: a process of its own for each install. */
  readonly performInstall?: PerformInstall;
  readonly clock?: Clock;
}

export interface Builder {
  /** See {@link build}. Equal requests at the same time share one build. */
  build(request: BuildRequest): Promise<Build>;
  /** See {@link collect}. */
  collect(url: string, addresses: Addresses, owner?: string): Promise<ComponentCode>;
  /** Refuses new builds and waits for the running ones. */
  stop(): Promise<void>;
}

/** Opens the stores, and builds: one install and one bundle at a time, since either may take hundreds of MB. */
export async function createBuilder(options: BuilderOptions): Promise<Builder> {
  const limits = { ...defaultLimits, ...options.limits };
  const installs = new FairSemaphore({ permits: 1, permitsPerKey: 1 });
  const parts = await openParts(options, limits, installs);
  const running = new Map<string, Promise<Build>>();
  const collecting = new Set<Promise<ComponentCode>>();
  const admissions = { permits: limits.waiting, permitsPerKey: limits.waitingOfOwner };
  const builds = new FairSemaphore(admissions);
  const fetches = new FairSemaphore(admissions);
  let stopped = false;
  return {
    async build(request) {
      if (stopped) throw new Unavailable("the builder is stopping: try again");
      const key = buildKey(request);
      const known = running.get(key);
      if (known !== undefined) return known;
      const leave = admit(builds, limits.waitingOfOwner, request.owner, "builds are waiting");
      const begun = buildInTime(request, parts).finally(() => {
        running.delete(key);
        leave();
      });
      running.set(key, begun);
      return begun;
    },
    async collect(url, addresses, owner = "") {
      if (stopped) throw new Unavailable("the builder is stopping: try again");
      const leave = admit(fetches, limits.waitingOfOwner, owner, "components are being fetched");
      const collected = collect(url, {
        addresses,
        esbuild: parts.esbuild,
        owner,
        scanMs: limits.scanMs,
        limits: { ...collectLimits, ...options.collectLimits },
      });
      collecting.add(collected);
      return collected.finally(() => {
        collecting.delete(collected);
        leave();
      });
    },
    async stop() {
      stopped = true;
      await Promise.allSettled([...running.values(), ...collecting]);
      await Promise.all([installs.whenIdle(), parts.esbuild.stop()]);
    },
  };
}

async function openParts(options: BuilderOptions, limits: BuildLimits, installs: FairSemaphore): Promise<BuildParts> {
  await mkdir(options.directory, { recursive: true });
  const directory = await realpath(options.directory);
  return {
    ports: { inspector: options.inspector, bundles: options.bundles },
    limits,
    cache: await openBuildCache(directory, limits.keptBytes),
    packages: await openPackageStore({
      directory,
      limits,
      npm: options.npm ?? (await readNpmConfig(process.env, process.cwd())),
      clock: options.clock ?? systemClock,
      confine: options.confine,
      performInstall: options.performInstall,
      enqueue: (owner, work) => installs.use(owner, work),
    }),
    esbuild: createEsbuildLane(),
  };
}

async function buildInTime(request: BuildRequest, parts: BuildParts): Promise<Build> {
  const deadline = startDeadline(parts.limits.buildMs);
  try {
    return await build(request, parts, deadline);
  } finally {
    deadline.end();
  }
}

let withoutOwner = 0;

/**
 * Counts a request that is running or queued. Their number is limited in total and per owner; requests without an owner count towards
 * the total only.
 *
 * @returns a function to call once, when the request has ended
 * @throws Unavailable `builder_busy`
 */
function admit(semaphore: FairSemaphore, maxOfOwner: number, owner: string | undefined, what: string): () => void {
  const key = owner === undefined || owner === "" ? `without owner ${++withoutOwner}` : owner;
  if (semaphore.tryAcquire(key)) return () => semaphore.release(key);
  const own = semaphore.takenBy(key);
  throw new Unavailable(`${own >= maxOfOwner ? `${own} of your` : semaphore.taken} ${what} already: try again`, { code: "builder_busy" });
}
