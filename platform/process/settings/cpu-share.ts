import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";

/** CPU time that a container has used, by cgroup version. */
const counters = [
  { file: "/sys/fs/cgroup/cpu.stat", field: /^usage_usec (\d+)$/m, perSecond: 1e6 },
  { file: "/sys/fs/cgroup/cpuacct/cpuacct.usage", field: /^(\d+)$/m, perSecond: 1e9 },
] as const;

/** CPU limit of a container, by cgroup version: a quota for each period, both in the same unit. */
const quotas = [["/sys/fs/cgroup/cpu.max"], ["/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"]] as const;

/** Shorter peaks do not count. */
const windowMs = 15_000;

interface CpuUse {
  /** CPU time since the container started; undefined if it cannot be read. */
  readonly seconds: number | undefined;
  /** CPUs of the limit; undefined without one. */
  readonly limit: number | undefined;
}

/**
 * Measures the share of its CPUs that our container uses with all processes, 0 to 1, as the mean of the last 15 s: of its limit, or of all
 * CPUs of the machine without one. Returns undefined for the first 15 s.
 */
export function cpuMeter(read: () => Promise<CpuUse> = readUse, now = (): number => performance.now()): () => Promise<number | undefined> {
  const samples: { readonly at: number; readonly seconds: number }[] = [];
  return async () => {
    const { seconds, limit } = await read();
    if (seconds === undefined) return undefined;
    const at = now();
    samples.push({ at, seconds });
    while (samples.length > 2 && at - (samples[1]?.at ?? at) >= windowMs) samples.shift();
    const [first] = samples;
    if (first === undefined || at - first.at < windowMs) return undefined;
    const used = (seconds - first.seconds) / ((at - first.at) / 1_000);
    return Math.min(1, Math.max(0, used / (limit ?? availableParallelism())));
  };
}

async function readUse(): Promise<CpuUse> {
  const [seconds, limit] = await Promise.all([usedSeconds(), cpuLimit()]);
  return { seconds, limit };
}

async function usedSeconds(): Promise<number | undefined> {
  for (const { file, field, perSecond } of counters) {
    const used = field.exec(await readFile(file, "utf8").catch(() => ""))?.[1];
    if (used !== undefined) return Number(used) / perSecond;
  }
  return undefined;
}

/** CPUs of the limit; undefined without one. */
async function cpuLimit(): Promise<number | undefined> {
  for (const files of quotas) {
    const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
    const [quota = Number.NaN, period = Number.NaN] = texts.join(" ").split(/\s+/).filter(Boolean).map(Number); // "max" is no number.
    if (quota > 0 && period > 0) return quota / period;
  }
  return undefined;
}
