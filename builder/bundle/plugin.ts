import { readFile, realpath, stat } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { basename, dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { LRUCache } from "lru-cache";
import type { Loader, OnLoadResult, OnResolveArgs, OnResolveResult, Plugin, PluginBuild } from "esbuild";
import { isRelative } from "../../domain/component/module-path.ts";
import { moduleName, moduleNamespace, pathOfName } from "../scan/code-frame.ts";
import { withPlainRequire } from "../scan/created-require.ts";
import { platformAxios, type Dependencies } from "../npm/dependencies.ts";
import { formatBytes } from "../limits.ts";
import { loadModule, loaderOf, type Modules } from "../scan/modules.ts";
import { importRelative } from "../scan/relative-imports.ts";
import { textOf, withFilesBeside } from "../scan/read-beside.ts";
import { specifierIn } from "../scan/specifier.ts";
import { withoutAwaitAsName } from "../scan/strictness.ts";
import { nothingToImport } from "./installed-package.ts";

/** What the bundle's own first module imports. */
export const entryImport = { from: "headwater:entry", path: "component" } as const;

export interface PluginOptions {
  readonly modules: Modules;
  readonly esModules: ReadonlySet<string>;
  /** How the entry is read. */
  readonly language: Loader;
  /** Real path of the set of packages. */
  readonly packages: string;
  /** Real path of our implementation of the platform package. */
  readonly platform: string;
  readonly dependencies: Dependencies;
  /** Of one file: a larger one fits into no bundle. */
  readonly fileBytes: number;
  /** Whether modules run as CommonJS does, without "use strict". */
  readonly isSloppy: boolean;
  /** Files that use `await` as a name, as esbuild names them. */
  readonly awaitFiles: Set<string>;
  /** Filled while bundling: built-ins that were resolved. */
  readonly builtins: Set<string>;
}

/** Marks a resolution that this plugin started itself. */
const ours = Symbol("ours");

/**
 * Checks that have passed, keyed by the package set they were made for: files that esbuild may read unchanged, and imports that resolve
 * inside the set. A set never changes, so a result stays valid, but only for that set: another one may belong to another owner.
 * The caches halve the time of the second bundle of a set.
 */
const plainFiles = new LRUCache<string, true>({ max: 50_000 });
const goodImports = new LRUCache<string, true>({ max: 100_000 });
const keyIn = ({ packages }: PluginOptions, ...parts: readonly string[]): string => [packages, ...parts].join("\0");

/**
 * Decides where every import of a bundle leads: the user's code, a package of the set, our platform package, a built-in of the
 * sandbox, or a stub that throws when it is reached. Nothing outside these is read: other files on the builder's disk must not be
 * inlined into a bundle, nor may errors reveal that they exist.
 */
export function sandboxPlugin(options: PluginOptions): Plugin {
  return {
    name: "sandbox",
    setup(esbuild) {
      esbuild.onResolve({ filter: /.*/ }, (args) => resolveImport(esbuild, options, args));
      esbuild.onLoad({ filter: /.*/, namespace: moduleNamespace }, ({ path: name }) => {
        const path = pathOfName(name);
        return loadModule(options.modules, path, path === options.modules.entry ? options.language : loaderOf(path));
      });
      esbuild.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({
        contents: `module.exports = __builtin(${JSON.stringify(path)})`,
      }));
      esbuild.onLoad({ filter: /.*/, namespace: "missing" }, ({ path }) => ({ contents: throwing(path) }));
      esbuild.onLoad({ filter: /.*/, namespace: "text" }, ({ path }) => loadText(options, path));
      esbuild.onLoad({ filter: /.*/, namespace: "file" }, ({ path }) => loadFile(options, path));
    },
  };
}

async function resolveImport(esbuild: PluginBuild, options: PluginOptions, args: OnResolveArgs): Promise<OnResolveResult | undefined> {
  if (args.kind === "entry-point" || args.pluginData === ours) return undefined;
  if (args.namespace === moduleNamespace) return resolveUserImport(esbuild, options, args);
  const { entry } = options.modules;
  if (args.path === entryImport.path && args.importer === entryImport.from)
    return { path: moduleName(entry, options.esModules.has(entry)), namespace: moduleNamespace };
  return resolvePackageImport(esbuild, options, args);
}

/** The scan has accepted these; here each gets its version. */
async function resolveUserImport(esbuild: PluginBuild, options: PluginOptions, args: OnResolveArgs): Promise<OnResolveResult> {
  const importer = pathOfName(args.importer);
  if (isRelative(args.path)) return importRelative(options.modules, { importer, path: args.path }, options.esModules);
  const specifier = specifierIn(options.modules, importer, args.path);
  if (specifier.kind === "builtin") return builtin(options, specifier.name);
  if (specifier.kind === "platform") return { path: resolve(options.platform, `${specifier.module}.ts`), sideEffects: false };
  if (specifier.kind === "refused") return { errors: [{ text: `import "${args.path}" is refused: ${specifier.reason}` }] };
  if (specifier.name === "undici" && specifier.subpath === "") return ourUndici(options);
  const key = options.dependencies.keyOf(specifier.name, specifier.range);
  const found = await find(esbuild, options, args, key + specifier.subpath, options.packages);
  if (found) return found;
  const file = args.path.startsWith("npm:") ? await fileIn(options, key, specifier.subpath) : undefined;
  if (file !== undefined) return { path: file, namespace: "file" };
  return { errors: [await nothingToImport(options.packages, key, specifier)] };
}

/** A file of a package that its `exports` do not name: components in it are files, and not its interface. */
async function fileIn(options: PluginOptions, key: string, subpath: string): Promise<string | undefined> {
  const real = await realpath(resolve(options.packages, "node_modules", key, `.${subpath}`)).catch(() => "");
  return subpath !== "" && isInside(options, real) && (await stat(real)).isFile() ? real : undefined;
}

async function resolvePackageImport(
  esbuild: PluginBuild,
  options: PluginOptions,
  args: OnResolveArgs,
): Promise<OnResolveResult | undefined> {
  const { path } = args;
  if (isPath(path)) {
    // Decided by the name alone, so that the error does not reveal whether the file exists.
    if (!isInside(options, resolve(args.resolveDir, path)))
      return { errors: [{ text: `a package imports "${path}", which is outside the packages` }] };
  } else {
    // "punycode/" with the slash is the package of that name.
    if (isBuiltin(path)) return builtin(options, path.replace(/^node:/, ""));
    const module = /^@pipedream(?:hq)?\/(platform|types)$/.exec(path)?.[1];
    if (module !== undefined) return { path: resolve(options.platform, `${module}.ts`), sideEffects: false };
    if (path === "undici") return ourUndici(options);
    if (path.startsWith(textOf)) return fileBeside(options, args);
    if (path.startsWith("data:")) return undefined;
  }
  const inPlatform = args.importer.startsWith(options.platform + sep);
  const name = inPlatform && path === "axios" ? platformAxios.key : path;
  const from = inPlatform && !isPath(path) ? options.packages : args.resolveDir;
  const isPlain = name === path && from === args.resolveDir;
  const key = keyIn(options, from, path, args.kind);
  if (isPlain && goodImports.has(key)) return undefined;
  const found = await find(esbuild, options, args, name, from);
  if (!found || found.path?.endsWith(".node") === true) return missing(path);
  // esbuild's own result has more data about the file (package.json's "type", side effects); ours only checks the path.
  if (!isPlain) return found;
  goodImports.set(key, true);
  return undefined;
}

async function find(
  esbuild: PluginBuild,
  options: PluginOptions,
  args: OnResolveArgs,
  path: string,
  resolveDir: string,
): Promise<OnResolveResult | undefined> {
  const result = await esbuild.resolve(path, {
    kind: args.kind,
    resolveDir,
    importer: args.importer,
    pluginData: ours,
  });
  if (result.errors.length > 0 || (result.namespace === "file" && !isInside(options, result.path))) return undefined;
  return { path: result.path, namespace: result.namespace, sideEffects: result.sideEffects, suffix: result.suffix };
}

const isPath = (path: string): boolean => /^\.{0,2}(\/|$)/.test(path) || isAbsolute(path);

export function isInside({ packages, platform }: Pick<PluginOptions, "packages" | "platform">, path: string): boolean {
  return path.startsWith(packages + sep) || path.startsWith(platform + sep);
}

const ourUndici = ({ platform }: PluginOptions): OnResolveResult => ({ path: resolve(platform, "undici.ts"), sideEffects: false });

function builtin(options: PluginOptions, name: string): OnResolveResult {
  options.builtins.add(name);
  return { path: name, namespace: "builtin", sideEffects: false };
}

/** An optional dependency that is missing, or a native addon: code that requires it in `try` continues without it. */
const missing = (path: string): OnResolveResult => ({ path, namespace: "missing" });
const nativeHint = ": native addons cannot be loaded in the sandbox; use a package that is written in JavaScript, or call a service";
const throwing = (path: string): string =>
  `throw Object.assign(new Error(${JSON.stringify(`Cannot find module '${path}'${path.endsWith(".node") ? nativeHint : ""}`)}), { code: "MODULE_NOT_FOUND" });`;

/** The same error whether or not the file exists. */
export const outsidePackages = "a package imports a file outside the packages";

/**
 * Decides by the real path, after all links, whether a file may be read. The path is checked before the cache is asked: esbuild resolves
 * computed imports (`require("../" + x)`) without asking this plugin, so any path may arrive here.
 */
async function loadFile(options: PluginOptions, path: string): Promise<OnLoadResult | undefined> {
  if (!isInside(options, path)) return { errors: [{ text: outsidePackages }] };
  const key = keyIn(options, path);
  if (plainFiles.has(key) && !options.awaitFiles.has(relative(options.packages, path))) return undefined;
  const real = await realpath(path).catch(() => "");
  if (!isInside(options, real)) return { errors: [{ text: outsidePackages }] };
  const { size } = await stat(real);
  if (size > options.fileBytes)
    return { errors: [{ text: `${basename(path)} is ${formatBytes(size)}, ${formatBytes(options.fileBytes)} are allowed` }] };
  const text = /\.[cm]?[jt]sx?$/.test(path) ? await readFile(path, "utf8") : "";
  // `require(__dirname + "/x.json")` is a relative import in disguise.
  const changed = /\.[cm]?js$/.test(path)
    ? withFilesBeside(withPlainRequire(text)).replaceAll(/require\(\s{0,100}__dirname\s{0,100}\+\s{0,100}(['"])\//g, "require($1./")
    : text;
  const named = options.awaitFiles.has(relative(options.packages, path)) ? withoutAwaitAsName(changed) : changed;
  const contents = named.replaceAll(distantMap, "$1 $2");
  if (contents !== text) return { contents, loader: loaderOf(path), resolveDir: dirname(path) };
  plainFiles.set(key, true);
  return undefined;
}

/** The comment that names a source map, except one inlined in the comment or in the same folder: esbuild reads any path named there, devices too. */
const distantMap = /([/*])[#@](\s{0,100}sourceMappingURL=)(?!data:|[\w@.~-]{1,255}(?:\s|\*|$))/g;

function fileBeside(options: PluginOptions, { resolveDir, path }: OnResolveArgs): OnResolveResult {
  const file = resolve(resolveDir, path.slice(textOf.length));
  return isInside(options, file) ? { path: file, namespace: "text", sideEffects: false } : missing(path);
}

async function loadText(options: PluginOptions, path: string): Promise<OnLoadResult> {
  const file = await realpath(path).catch(() => undefined);
  if (file === undefined || !isInside(options, file) || (await stat(file)).size > options.fileBytes)
    return { contents: throwing(path.split("/").pop() ?? "") };
  return { contents: await readFile(file, "utf8"), loader: "text" };
}
