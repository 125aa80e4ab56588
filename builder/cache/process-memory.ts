import { readFile } from "node:fs/promises";

const pageBytes = 4096;
const ownBytes = 1_280 * 2 ** 20;

/** Max memory of a process that installs or bundles; the largest bundles use half. In a container less than its limit, so that the container survives. */
export const maxMemoryBytes = Math.min(ownBytes, 0.6 * (process.constrainedMemory() || Infinity));

/** Resident bytes of a process; 0 if the system does not report them. */
export async function residentBytesOf(pid: number | string | undefined): Promise<number> {
  return Number((await read(`/proc/${pid}/statm`)).split(" ")[1] ?? 0) * pageBytes;
}

/** The same for esbuild's process, whose id its library does not expose. */
export async function residentBytesOfEsbuild(): Promise<number> {
  const children = (await read(`/proc/self/task/${process.pid}/children`)).split(" ").filter(Boolean);
  const bytes = await Promise.all(
    children.map(async (pid) => ((await read(`/proc/${pid}/comm`)).trim() === "esbuild" ? await residentBytesOf(pid) : 0)),
  );
  return bytes.reduce((sum, each) => sum + each, 0);
}

const read = (file: string): Promise<string> => readFile(file, "utf8").catch(() => "");
