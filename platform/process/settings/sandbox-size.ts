import { existsSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import type { Configuration } from "./configuration.ts";
import { memoryLimit } from "./memory-share.ts";

const mebibyte = 2 ** 20;
/** Share of the available memory for warm isolates: with less, sources that run in turns evict each other. */
const warmShare = 0.3;
const minBudgetMb = 384;
/** One hostile isolate can take about 1.1 GB before it is stopped, and the process needs memory of its own. */
const headroomMb = 1_664;

/** For histories, bundles that are being fetched, and Node itself. */
const parentMb = 512;

/** Caches that the image contains: its root file system is read-only at run time. */
export const bundledCache = join(import.meta.dirname, "..", "..", "..", ".caches", "sandbox");

/** Directory of the guest scripts and code caches, which all processes with isolates share. */
export const sandboxCache = ({ dataDirectory }: { readonly dataDirectory: string }): string =>
  existsSync(bundledCache) ? bundledCache : join(dataDirectory, "sandbox");

export interface SandboxSize {
  readonly children: number;
  readonly ownerProcesses: number;
  readonly memoryBudgetMb: number;
  readonly residentLimitMb: number;
}

/** The container, or machine, in which sandbox processes run. */
export interface SandboxResources {
  /** Null without a limit. */
  readonly memoryLimitBytes: number | null;
  readonly memoryBytes: number;
  readonly cores: number;
}

/** Those of this process. */
export const ownResources = (): SandboxResources => ({
  memoryLimitBytes: memoryLimit() ?? null,
  memoryBytes: totalmem(),
  cores: availableParallelism(),
});

export function sandboxSize({ sandboxChildren, sandboxOwners }: Configuration, resources: SandboxResources): SandboxSize {
  const { memoryLimitBytes, memoryBytes, cores } = resources;
  const children = sandboxChildren > 0 ? sandboxChildren : childrenWithin(memoryLimitBytes ?? undefined, cores);
  const processes = sandboxOwners > 0 ? sandboxOwners : children;
  const memoryBudgetMb = Math.max(minBudgetMb, Math.floor(((memoryLimitBytes ?? memoryBytes) * warmShare) / processes / mebibyte));
  return { children, ownerProcesses: sandboxOwners, memoryBudgetMb, residentLimitMb: memoryBudgetMb + headroomMb };
}

/**
 * One per core, but no more than fit into the memory limit if all of them are hostile at once: above the limit the kernel kills the whole
 * container with the runs of all owners, not one child.
 */
export function childrenWithin(limitBytes: number | undefined, cores: number): number {
  if (limitBytes === undefined) return cores;
  const bytesPerChild = (minBudgetMb + headroomMb) * mebibyte;
  return Math.max(1, Math.min(cores, Math.floor((limitBytes - parentMb * mebibyte) / bytesPerChild)));
}
