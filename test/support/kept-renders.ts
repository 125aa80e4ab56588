import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

const kept = join(import.meta.dirname, "../../.headwater/renders");
const maxAgeMs = 24 * 3_600_000;

/**
 * Keeps what Helm printed on disk from run to run: the same program renders the same text of the same chart and values. A failure is not
 * kept: its cause may be the machine.
 */
export async function keptRender<Ran extends { readonly code: number }>(
  program: string,
  chart: string,
  flags: readonly string[],
  render: () => Promise<Ran>,
): Promise<Ran> {
  const { size, mtimeMs } = statSync(program);
  const file = join(kept, `${digestOf([chartDigest(chart), program, `${size} ${mtimeMs}`, ...flags.map(contentOf)])}.json`);
  const found = await readFile(file, "utf8").catch(() => undefined);
  if (found !== undefined) return JSON.parse(found) as Ran; // Written below.
  const ran = await render();
  if (ran.code === 0) await keep(file, JSON.stringify(ran));
  return ran;
}

let removal: Promise<void> | undefined;

/** Other workers, and copies of the tree that share the folder, write and read at the same time. */
async function keep(file: string, text: string): Promise<void> {
  await mkdir(kept, { recursive: true });
  const written = `${file}.${process.pid}`;
  await writeFile(written, text);
  await rename(written, file);
  await (removal ??= removeOld());
}

/** Renders of earlier charts. By age alone: another copy of the tree may still use what this one does not. */
async function removeOld(): Promise<void> {
  for (const name of await readdir(kept)) {
    const path = join(kept, name);
    const found = await stat(path).catch(() => undefined); // Another process may have removed it.
    if (found !== undefined && Date.now() - found.mtimeMs > maxAgeMs) await rm(path, { recursive: true, force: true });
  }
}

const chartDigests = new Map<string, string>();

/** Of the chart's files, which no test changes. Read once: a file of tests renders the chart a hundred times. */
function chartDigest(chart: string): string {
  const digest = chartDigests.get(chart) ?? digestOf(filesOf(chart));
  chartDigests.set(chart, digest);
  return digest;
}

/** Names and contents of the chart's files. */
function filesOf(chart: string): readonly string[] {
  const names = globSync("**", { cwd: chart }).toSorted();
  return names.flatMap((name) => {
    const path = join(chart, name);
    return statSync(path).isFile() ? [name, readFileSync(path, "utf8")] : [];
  });
}

/** The flag, with the content of the file that it names in place of its path. */
function contentOf(flag: string): string {
  const at = flag.lastIndexOf("=") + 1;
  const path = flag.slice(at);
  return existsSync(path) && statSync(path).isFile() ? flag.slice(0, at) + readFileSync(path, "utf8") : flag;
}

const digestOf = (texts: readonly string[]): string => createHash("sha256").update(JSON.stringify(texts)).digest("hex");
