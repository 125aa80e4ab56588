import { readFile } from "node:fs/promises";
import { totalmem } from "node:os";

/** Unreclaimable memory of a container, by cgroup version; excludes cached files. */
const counters = [
  { file: "/sys/fs/cgroup/memory.stat", field: /^anon (\d+)$/m },
  { file: "/sys/fs/cgroup/memory/memory.stat", field: /^total_rss (\d+)$/m },
] as const;

/** Memory limit of our container, bytes; undefined without a limit. */
export function memoryLimit(): number | undefined {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : undefined;
}

/** Share of its memory limit that our container uses, with all processes, 0 to 1; undefined without a limit. */
export async function memoryShare(): Promise<number | undefined> {
  const limit = memoryLimit();
  if (limit === undefined) return undefined;
  for (const { file, field } of counters) {
    const bytes = field.exec(await readFile(file, "utf8").catch(() => ""))?.[1];
    if (bytes !== undefined) return Math.min(1, Number(bytes) / limit);
  }
  return undefined;
}
