import { readFile } from "node:fs/promises";
import { totalmem } from "node:os";

/** Where the kernel counts what a container cannot give back, by the version of control groups; cached files do not count. */
const counters = [
  { file: "/sys/fs/cgroup/memory.stat", field: /^anon (\d+)$/m },
  { file: "/sys/fs/cgroup/memory/memory.stat", field: /^total_rss (\d+)$/m },
] as const;

/** What our container may use, bytes; undefined without a limit. */
export function memoryLimit(): number | undefined {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : undefined;
}

/** How much of its memory limit our container uses, with all its processes, 0 to 1; undefined without a limit. */
export async function memoryShare(): Promise<number | undefined> {
  const limit = memoryLimit();
  if (limit === undefined) return undefined;
  for (const { file, field } of counters) {
    const bytes = field.exec(await readFile(file, "utf8").catch(() => ""))?.[1];
    if (bytes !== undefined) return Math.min(1, Number(bytes) / limit);
  }
  return undefined;
}
