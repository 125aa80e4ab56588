import { realpath } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { context, type BuildFailure, type BuildOptions, type Loader, type Message, type Metafile } from "esbuild";
import { LimitExceeded } from "../../domain/errors.ts";
import { modulePathOf } from "../scan/code-frame.ts";
import type { Dependencies } from "../npm/dependencies.ts";
import { sha256 } from "../cache/hash.ts";
import { formatBytes, type BuildLimits } from "../limits.ts";
import type { Modules } from "../scan/modules.ts";
import { cannotBeStrict, usesAwaitAsName } from "../scan/strictness.ts";
import { explainBundle, refuseOutside } from "./explain.ts";
import { partsBySize, type BundlePart } from "./largest-parts.ts";
import { entryImport, sandboxPlugin, type PluginOptions } from "./plugin.ts";

export interface BundleRequest {
  readonly modules: Modules;
  readonly language: Loader;
  readonly esModules: ReadonlySet<string>;
  readonly dependencies: Dependencies;
  /** Folder of the set of packages. */
  readonly packages: string;
  /** Disables strict mode, although a module of the component is an ES module: a package fails otherwise. */
  readonly isSloppy?: boolean;
}

export interface BundleText {
  readonly hash: string;
  /** A script: `(async()=>{"use strict"; … __register(namespace) })().catch(error=>__register(null,error))`; not strict, see below. */
  readonly text: string;
  /** Source map, version 3; the user's modules go by their paths, packages by their names. */
  readonly map: string;
  readonly needsNode: boolean;
  readonly isStrict: boolean;
}

const platform = fileURLToPath(new URL("../platform-shim", import.meta.url));

/**
 * Makes one script of the component and all it imports.
 * @throws InvalidInput for what esbuild refuses; LimitExceeded over `bundleBytes`.
 */
export async function bundle(request: BundleRequest, limits: BuildLimits, signal: AbortSignal): Promise<BundleText> {
  const builtins = new Set<string>();
  const options: PluginOptions = {
    modules: request.modules,
    language: request.language,
    esModules: request.esModules,
    dependencies: request.dependencies,
    builtins,
    platform,
    packages: await realpath(request.packages),
    fileBytes: limits.bundleBytes,
    awaitFiles: new Set(),
    isSloppy: request.isSloppy === true || request.esModules.size === 0,
  };
  const output = await run(options, "esm", signal);
  const bytes = Buffer.byteLength(output.text);
  if (bytes > limits.bundleBytes) throw tooLarge(bytes, limits.bundleBytes, partsBySize(output.metafile, options.dependencies));
  return {
    hash: sha256(output.text),
    text: output.text,
    map: nameSources(output.map, platform),
    needsNode: needsNode(output.text),
    isStrict: isStrict(options, output.format),
  };
}

function tooLarge(bytes: number, limit: number, largest: readonly BundlePart[]): LimitExceeded {
  const parts = largest.map((part) => `${part.name} (${formatBytes(part.bytes)})`).join(", ");
  return new LimitExceeded(
    `the bundle is ${formatBytes(bytes)}, ${formatBytes(limit)} are allowed; most of it is ${parts}: import less, or only the parts you need ("package/part")`,
    { code: "bundle_too_large", details: { bytes, limit, largest } },
  );
}

/** `iife` allows sloppy code but no top-level await; `esm` allows top-level await but only strict code. */
type Format = "esm" | "iife";

interface Output {
  readonly text: string;
  readonly map: string;
  readonly metafile: Metafile;
  readonly format: Format;
}

/** Starts with `esm`, the format of most components, and changes the format if a package's code is not strict. */
async function run(options: PluginOptions, format: Format, signal: AbortSignal): Promise<Output> {
  try {
    return { ...(await rebuild(buildOptions(options, format), options, signal)), format };
  } catch (error) {
    signal.throwIfAborted();
    const messages = messagesOf(error);
    const awaiting = messages.filter(usesAwaitAsName).map(({ location }) => location?.file ?? "");
    const isNew = awaiting.some((file) => !options.awaitFiles.has(file));
    const isRefused = format === "esm" && messages.some(cannotBeStrict);
    if (!isNew && !isRefused) throw await explainBundle(error, options);
    for (const file of awaiting) options.awaitFiles.add(file);
    return await run(options, isRefused ? "iife" : format, signal).catch(async (later: unknown) => {
      throw isRefused && isForAwait(later) ? await explainBundle(error, options) : later;
    });
  }
}

const messagesOf = (error: unknown): readonly Message[] =>
  error instanceof Error && "errors" in error ? (error as BuildFailure).errors : []; // esbuild rejects with its messages

const isForAwait = (error: unknown): boolean => error instanceof Error && error.message.includes("Top-level await");

async function rebuild(build: BuildOptions, options: PluginOptions, signal: AbortSignal): Promise<Omit<Output, "format">> {
  const esbuild = await context(build);
  const cancel = (): void => void esbuild.cancel();
  signal.addEventListener("abort", cancel);
  try {
    signal.throwIfAborted();
    const { outputFiles = [], warnings, metafile = { inputs: {}, outputs: {} } } = await esbuild.rebuild();
    refuseOutside(warnings, options);
    const file = (end: string): string => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? "";
    return { text: file("bundle.js"), map: file("bundle.js.map"), metafile };
  } finally {
    signal.removeEventListener("abort", cancel);
    // The process has ended: there is nothing to free.
    await esbuild.dispose().catch(() => undefined);
  }
}

/**
 * `conditions` is only `node`: with `import`, `require` in a CommonJS file would resolve to ES modules.
 * `tsconfigRaw` keeps esbuild from looking for a tsconfig.json above the packages.
 */
function buildOptions(options: PluginOptions, format: Format): BuildOptions {
  return {
    stdin: {
      contents: `import * as component from "${entryImport.path}"; __register(component);`,
      sourcefile: entryImport.from,
      loader: "js",
    },
    plugins: [sandboxPlugin(options)],
    bundle: true,
    write: false,
    metafile: true,
    format,
    platform: "node",
    target: "es2024",
    charset: "utf8",
    mainFields: ["main", "module"],
    conditions: ["node"],
    minify: true,
    keepNames: true,
    legalComments: "none",
    sourcemap: "external",
    sourcesContent: false,
    absWorkingDir: options.packages,
    outfile: "bundle.js",
    loader: { ".css": "empty", ".node": "empty" },
    tsconfigRaw: { compilerOptions: { target: "es2024", useDefineForClassFields: true } },
    define: {
      global: "globalThis",
      Buffer: "globalThis.Buffer",
      process: "globalThis.process",
      "process.env.NODE_ENV": '"production"',
      "import.meta": "__meta",
      "import.meta.url": '"file:///tmp/component.mjs"',
      "import.meta.dirname": '"/tmp"',
      "import.meta.filename": '"/tmp/component.mjs"',
      __dirname: '"/tmp"',
      __filename: '"/tmp/component.mjs"',
    },
    banner: { js: `(async()=>{${isStrict(options, format) ? '"use strict";' : ""}const __meta={};` },
    footer: { js: "})().catch(error=>__register(null,error))" },
    logLevel: "silent",
  };
}

/**
 * CommonJS is not strict in Node, and older components assign to undeclared names. A bundle is one scope: if one module of the component
 * is an ES module, everything is strict, unless a package has code that cannot be strict.
 */
const isStrict = ({ isSloppy }: PluginOptions, format: Format): boolean => format === "esm" && !isSloppy;

/**
 * `define` has replaced free uses of `Buffer` and `process`, and built-ins are calls of `__builtin`, so the text shows what the code uses
 * after tree shaking. A match inside a string costs 2 MB of an isolate; a missed use would break the component.
 */
function needsNode(text: string): boolean {
  return usesFiles.test(text) || /__builtin\(|globalThis\s*(?:\?\.|\.)\s*(?:Buffer|process)\b|globalThis\[|=\s*globalThis\b/.test(text);
}

/** `$.files` of an action is made of `node:fs`. */
const usesFiles = /\.files\s*(?:\?\.|\.)\s*(?:open|openDescriptor|dir)\b/;

/** esbuild's names of sources are its namespaces and paths; stacks should say `sources/new-item.mjs` and `axios/lib/core.js`. */
function nameSources(map: string, platformPath: string): string {
  // Written by esbuild.
  const parsed = JSON.parse(map) as { sources: string[] };
  const shim = platformPath.split("/").pop() ?? "";
  parsed.sources = parsed.sources.map((source) => {
    const own = modulePathOf(source);
    if (own !== undefined) return own;
    if (source.includes(`/${shim}/`)) return `@pipedream/${source.split("/").pop() ?? ""}`;
    return source.replace(/^.*node_modules\//, "");
  });
  return JSON.stringify(parsed);
}
