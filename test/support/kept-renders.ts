import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

const kept = join(import.meta.dirname, "../../.headwater/renders");

/**
 * Keeps what Helm printed on disk from run to run: the same program renders the same text of the same chart and values. A changed chart
 * deletes the earlier renders.
 */
export async function keptRender<Ran>(program: string, chart: string, flags: readonly string[], render: () => Promise<Ran>): Promise<Ran> {
  const folder = join(kept, digestOf(filesOf(chart)));
  const { size, mtimeMs } = statSync(program);
  const file = join(folder, `${digestOf([program, `${size} ${mtimeMs}`, ...flags.map(contentOf)])}.json`);
  const found = await readFile(file, "utf8").catch(() => undefined);
  if (found !== undefined) return JSON.parse(found) as Ran; // Written below.
  const ran = await render();
  await mkdir(folder, { recursive: true });
  // Another worker may write or read the same file.
  const written = `${file}.${process.pid}`;
  await writeFile(written, JSON.stringify(ran));
  await rename(written, file);
  for (const name of await readdir(kept)) if (join(kept, name) !== folder) await rm(join(kept, name), { recursive: true, force: true });
  return ran;
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
