import { existsSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import type { Configuration } from "./configuration.ts";
import { memoryLimit } from "./memory-share.ts";

const mebibyte = 2 ** 20;
/** Share of the memory there is that warm isolates may take: with less, sources that run in turns push each other out. */
const warmShare = 0.3;
const leastBudgetMb = 384;
/** One hostile isolate can take about 1.1 GB before it is stopped, and the process itself needs some. */
const headroomMb = 1_664;

/** Histories, bundles on their way, Node itself. */
const parentMb = 512;

/** Where an image has them ready: its root file system is read-only when it runs. */
export const bundledCache = join(import.meta.dirname, "..", "..", "..", ".caches", "sandbox");

/** Guest scripts and code caches, made once for all who run isolates here. */
export const sandboxCache = ({ dataDirectory }: { readonly dataDirectory: string }): string =>
  existsSync(bundledCache) ? bundledCache : join(dataDirectory, "sandbox");

export function sandboxSize({ sandboxChildren, sandboxOwners }: Configuration): {
  readonly children: number;
  readonly ownerProcesses: number;
  readonly memoryBudgetMb: number;
  readonly residentLimitMb: number;
} {
  const children = sandboxChildren > 0 ? sandboxChildren : childrenWithin(memoryLimit(), availableParallelism());
  const processes = sandboxOwners > 0 ? sandboxOwners : children;
  const memoryBudgetMb = Math.max(leastBudgetMb, Math.floor(((memoryLimit() ?? totalmem()) * warmShare) / processes / mebibyte));
  return { children, ownerProcesses: sandboxOwners, memoryBudgetMb, residentLimitMb: memoryBudgetMb + headroomMb };
}

/**
 * One per core, and no more than can each be hostile at once: a container that is over its limit is ended whole, with the runs of
 * everybody in it, where a single child would have been.
 */
export function childrenWithin(limitBytes: number | undefined, cores: number): number {
  if (limitBytes === undefined) return cores;
  const each = (leastBudgetMb + headroomMb) * mebibyte;
  return Math.max(1, Math.min(cores, Math.floor((limitBytes - parentMb * mebibyte) / each)));
}
