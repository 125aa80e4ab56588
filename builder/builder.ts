import { mkdir, realpath } from "node:fs/promises";
import { systemClock, type Clock } from "../domain/clock.ts";
import type { ComponentCode } from "../domain/component/component-code.ts";
import type { Build } from "../domain/component/definition.ts";
import { isNpmAddress } from "../domain/component/npm-origin.ts";
import type { PackageListing } from "../domain/component/package-listing.ts";
import { Unavailable } from "../domain/errors.ts";
import { FairSemaphore } from "../domain/limits/fair-semaphore.ts";
import { build, buildKey, type BuildParts } from "./build.ts";
import { openBuildCache } from "./bundle/build-cache.ts";
import { collect } from "./collect/collect.ts";
import { collectLimits, type CollectLimits } from "./collect/limits.ts";
import { startDeadline, type Deadline } from "./deadline.ts";
import { createEsbuildLane } from "./bundle/esbuild-lane.ts";
import { defaultLimits, type BuildLimits } from "./limits.ts";
import { readNpmConfig, type NpmConfig } from "./npm/config.ts";
import type { PerformInstall } from "./npm/install.ts";
import { openPackageStore } from "./npm/package-store.ts";
import { collectNpm } from "./origin/collect-npm.ts";
import { listPackage } from "./origin/list-package.ts";
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
  /** See {@link collect} and {@link collectNpm}. */
  collect(url: string, addresses: Addresses, owner?: string): Promise<ComponentCode>;
  /** See {@link listPackage}. */
  listPackage(name: string, range: string | null, owner?: string): Promise<PackageListing>;
  /** Refuses new builds and waits for the running ones. */
  stop(): Promise<void>;
}

/** Opens the stores, and builds: one install and one bundle at a time, since either may take hundreds of MB. */
export async function createBuilder(options: BuilderOptions): Promise<Builder> {
  const limits = { ...defaultLimits, ...options.limits };
  const installs = new FairSemaphore({ permits: 1, permitsPerKey: 1 });
  const parts = await openParts(options, limits, installs);
  const running = new Map<string, Promise<Build>>();
  const collecting = new Set<Promise<unknown>>();
  const admissions = { permits: limits.waiting, permitsPerKey: limits.waitingOfOwner };
  const builds = new FairSemaphore(admissions);
  const fetches = new FairSemaphore(admissions);
  let stopped = false;

  async function fetching<T>(owner: string, work: () => Promise<T>): Promise<T> {
    if (stopped) throw new Unavailable("the builder is stopping: try again");
    const leave = admit(fetches, limits.waitingOfOwner, owner, "components are being fetched");
    const fetched = work();
    collecting.add(fetched);
    return fetched.finally(() => {
      collecting.delete(fetched);
      leave();
    });
  }

  return {
    async build(request) {
      if (stopped) throw new Unavailable("the builder is stopping: try again");
      const key = buildKey(request);
      const known = running.get(key);
      if (known !== undefined) return known;
      const leave = admit(builds, limits.waitingOfOwner, request.owner, "builds are waiting");
      const begun = inTime(limits, (deadline) => build(request, parts, deadline)).finally(() => {
        running.delete(key);
        leave();
      });
      running.set(key, begun);
      return begun;
    },
    async collect(url, addresses, owner = "") {
      const { esbuild } = parts;
      return fetching(owner, () =>
        isNpmAddress(url)
          ? inTime(limits, (deadline) => collectNpm(url, owner, parts, deadline))
          : collect(url, { addresses, esbuild, owner, scanMs: limits.scanMs, limits: { ...collectLimits, ...options.collectLimits } }),
      );
    },
    listPackage: (name, range, owner = "") =>
      fetching(owner, () => inTime(limits, (deadline) => listPackage({ name, range }, owner, parts, deadline))),
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

async function inTime<T>({ buildMs }: BuildLimits, work: (deadline: Deadline) => Promise<T>): Promise<T> {
  const deadline = startDeadline(buildMs);
  try {
    return await work(deadline);
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
