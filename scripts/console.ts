import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

/**
 * `npm run console`: builds the web console into console/dist. With `--if-changed`, only if its sources have changed since. With `--watch`,
 * serves the sources for development, for an API that runs on this machine.
 */
const root = join(import.meta.dirname, "..");
const dist = join(root, "console", "dist");
/** Records the sources of the build. */
const markName = "sources.sha256";

if (process.argv.includes("--watch")) await serve();
else if (!process.argv.includes("--if-changed") || (await readFile(join(dist, markName), "utf8").catch(() => "")) !== sourcesHash())
  await build();

/** Builds into a folder of its own, which then replaces the built files: others may serve or build them at the same time. */
async function build(): Promise<void> {
  console.error("building the console (a few seconds)");
  // A test runner's setting would make it React's slow development build.
  process.env["NODE_ENV"] = "production";
  const fresh = join(root, ".headwater", `console.${process.pid}`);
  const replaced = `${fresh}.replaced`;
  try {
    // Vite is a development dependency: an image has the built files only.
    const vite = await import("vite");
    await vite.build({ configFile: join(root, "console", "vite.config.ts"), logLevel: "warn", build: { outDir: fresh } });
    for (const name of readdirSync(join(fresh, "assets"))) await compress(join(fresh, "assets", name));
    await writeFile(join(fresh, markName), sourcesHash());
    await rename(dist, replaced).catch(() => undefined); // There may be none.
    await rename(fresh, dist);
  } finally {
    for (const folder of [fresh, replaced]) await rm(folder, { recursive: true, force: true });
  }
}

/** The server sends the compressed files as they are. */
async function compress(path: string): Promise<void> {
  const content = await readFile(path);
  await writeFile(`${path}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
  await writeFile(`${path}.gz`, gzipSync(content, { level: 9 }));
}

async function serve(): Promise<void> {
  const vite = await import("vite");
  const server = await vite.createServer({ configFile: join(root, "console", "vite.config.ts") });
  await server.listen();
  server.printUrls();
}

function sourcesHash(): string {
  const hash = createHash("sha256");
  const files = ["console", "client"].flatMap((folder) => filesBelow(join(root, folder)));
  for (const path of [...files, join(root, "package-lock.json")].sort()) hash.update(relative(root, path)).update(readFileSync(path));
  return hash.digest("hex");
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.startsWith(dist));
}
