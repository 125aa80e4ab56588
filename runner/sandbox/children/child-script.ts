import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin } from "esbuild";
import { replaceFile } from "../isolate/replace-file.ts";

/** The programs of processes with isolates as files, and the package folders that they read. */
export interface Programs {
  readonly child: string;
  /** See code-caches.ts. */
  readonly cacheMaker: string;
  /** See jail/launcher.ts. */
  readonly launcher: string;
  readonly packages: readonly string[];
}

const root = join(import.meta.dirname, "../../..");
/** The folders from which the programs may import. */
const sources = ["runner/sandbox", "platform/http", "domain"];
const guest = join("runner", "sandbox", "guest");
const require = createRequire(import.meta.url);
/** Native code is not bundled. Its loader is another package. */
const isolatedVm = require.resolve("isolated-vm");
const koffi = require.resolve("koffi");
const packages = [dirname(isolatedVm), dirname(createRequire(isolatedVm).resolve("node-gyp-build")), dirname(koffi), nativeKoffi()];

/** The package of koffi for this platform. */
function nativeKoffi(): string {
  return join(dirname(koffi), "../@koromix", `koffi-${process.platform}-${process.arch}`);
}

/**
 * Bundles `child.ts`, `cache-maker.ts`, `launcher.ts` and their imports as plain scripts, cached by the hash of their sources. Children must not write
 * files, so Node could not cache compiled TypeScript for them: each child would load the compiler, which took 24 MB and more than half of
 * its start time.
 */
export async function buildPrograms(cacheDirectory: string): Promise<Programs> {
  const directory = join(cacheDirectory, `child-${await hashSources()}`);
  const programs = {
    cacheMaker: join(directory, "cache-maker.mjs"),
    launcher: join(directory, "launcher.mjs"),
    child: join(directory, "sandbox-child.mjs"),
  };
  if (Object.values(programs).every((path) => existsSync(path))) return { ...programs, packages };
  const texts = await Promise.all([bundle("cache-maker.ts"), bundle("../jail/launcher.ts"), bundle("child.ts")]);
  await mkdir(directory, { recursive: true });
  await Promise.all(Object.values(programs).map((path, index) => replaceFile(path, texts[index] ?? "")));
  return { ...programs, packages };
}

async function bundle(entry: string): Promise<string> {
  const { build } = await import("esbuild");
  const result = await build({
    entryPoints: [join(import.meta.dirname, entry)],
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    target: "node26",
    legalComments: "none",
    logLevel: "silent",
    tsconfigRaw: {},
    plugins: [leaveNativeCode],
  });
  const unknown = Object.keys(result.metafile.inputs).find((path) => !isHashed(path));
  if (unknown !== undefined)
    throw new Error(`${entry} imports ${unknown}, of which child-script.ts knows nothing: add its folder to \`sources\``);
  const [file] = result.outputFiles;
  if (file === undefined) throw new Error(`esbuild made no output of ${entry}`);
  return file.text;
}

/** Packages are excluded, because package.json is part of the hash. */
const isHashed = (path: string): boolean =>
  /(^|\/)node_modules\//.test(path) || (sources.some((folder) => path.startsWith(`${folder}/`)) && !path.startsWith(`${guest}/`));

const leaveNativeCode: Plugin = {
  name: "leave-native-code",
  setup({ onResolve }) {
    onResolve({ filter: /^(isolated-vm|koffi)$/ }, ({ path }) => ({ path: pathToFileURL(require.resolve(path)).href, external: true }));
  },
};

async function hashSources(): Promise<string> {
  const hash = createHash("sha256").update(isolatedVm);
  for (const path of [join(root, "package.json"), ...(await sourceFiles())])
    hash.update(`${relative(root, path)}\0`).update(await readFile(path));
  return hash.digest("hex").slice(0, 16);
}

async function sourceFiles(): Promise<readonly string[]> {
  const names = await Promise.all(
    sources.map(async (folder) => (await readdir(join(root, folder), { recursive: true })).map((name) => join(folder, name))),
  );
  const own = names.flat().filter((name) => name.endsWith(".ts") && !name.startsWith(guest));
  return own.sort().map((name) => join(root, name));
}
