import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Plugin } from "esbuild";
import { replaceFile } from "./replace-file.ts";

/** The guest's two scripts as files. */
export interface GuestScripts {
  readonly webPath: string;
  readonly nodePath: string;
}

const guestDirectory = join(import.meta.dirname, "../guest");
const nodeDirectory = join(guestDirectory, "node");
const packagePath = join(import.meta.dirname, "../../../package.json");
/** Says what is in the code caches, which lie beside the scripts. */
const preludePath = join(import.meta.dirname, "prelude.ts");

/** Evaluated first in the Node layer's script: the global it reads is gone when modules that are loaded lazily want theirs. */
const sharedRoot = "shared-root";

/** Packages bring tables for encodings and domain names that the host has already. */
const replacements: Readonly<Record<string, string>> = {
  tr46: join(guestDirectory, "web/url/domain-names.ts"),
  "@exodus/bytes/encoding.js": join(guestDirectory, "web/encoding/no-legacy-encodings.ts"),
  "@exodus/bytes/whatwg.js": join(guestDirectory, "web/url/percent-encoding.ts"),
  "webidl-conversions": join(guestDirectory, "web/url/webidl-conversions.ts"),
};

/** Modules of the web layer that every isolate needs at once; the others are evaluated when they are first asked for, as are those of actions. */
const eagerModules: ReadonlySet<string> = new Set(["index", "define", "encoding/utf8", "clock"].map((name) => `web/${name}.ts`));
const lazyModules: ReadonlySet<string> = new Set(["component/http-request.ts", "node/console/console-table.ts"]);

/** Bundles the guest's TypeScript; the result is kept by the hash of everything it was made of. */
export async function buildGuestScripts(cacheDirectory: string): Promise<GuestScripts> {
  const directory = join(cacheDirectory, `guest-${await hashInputs()}`);
  const scripts = { webPath: join(directory, "web.js"), nodePath: join(directory, "node.js") };
  if (existsSync(scripts.webPath) && existsSync(scripts.nodePath)) return scripts;
  const { web, node } = await bundle();
  await mkdir(directory, { recursive: true });
  await replaceFile(scripts.webPath, web);
  await replaceFile(scripts.nodePath, node);
  return scripts;
}

/** The Node layer shares the modules of the web script rather than having its own copies: there is one bridge. */
async function bundle(): Promise<{ web: string; node: string }> {
  const shared = new Set<string>();
  const node = await build(`import ${JSON.stringify(sharedRoot)}; import "./node/index.ts";`, {
    keepNames: true,
    plugins: [shareModules(shared)],
  });
  const names = [...shared].sort();
  // By getters: what a bundle never asks for is not evaluated for the Node layer either.
  const getters = names.map((name) => `get ${JSON.stringify(name)}() { return require(${JSON.stringify(`./${name}`)}); }`);
  const contents = [
    `import "./index-web.ts";`,
    `Object.defineProperty(globalThis, "__shared", { configurable: true, value: { ${getters.join(", ")} } });`,
  ].join("\n");
  // keepNames pays for every function at every start; web/define.ts gives the global classes their names back.
  const web = await build(contents, { keepNames: false, plugins: [wrapLazyModules, replaceUrlEncoding], define: withoutSharedMemory });
  return { web, node };
}

async function build(
  contents: string,
  {
    keepNames,
    plugins,
    define = {},
  }: { readonly keepNames: boolean; readonly plugins: Plugin[]; readonly define?: Record<string, string> },
): Promise<string> {
  const { build: esbuild } = await import("esbuild");
  const result = await esbuild({
    stdin: { contents, resolveDir: guestDirectory, loader: "ts", sourcefile: join(guestDirectory, "entry.ts") },
    bundle: true,
    write: false,
    format: "iife",
    platform: "browser",
    target: "esnext",
    keepNames,
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    logLevel: "silent",
    // Without it, call sites in a user's Error.prepareStackTrace would hand out the functions of the prelude.
    banner: { js: '"use strict";' },
    define: { "process.env.NODE_ENV": '"production"', global: "globalThis", ...define },
    tsconfigRaw: {},
    alias: replacements,
    plugins,
  });
  const [file] = result.outputFiles;
  if (file === undefined) throw new Error("esbuild made no output of the guest's scripts");
  return harden(file.text);
}

/**
 * The bundler's helpers run when a module is first asked for, which may be after user code replaced intrinsics. By a `call` that all
 * functions inherit it would be shown the objects through which modules see each other's exports, the bridge's among them.
 */
function harden(script: string): string {
  return script.replace("__hasOwnProp=Object.prototype.hasOwnProperty", "__hasOwnProp={__proto__:null,call:Object.hasOwn}");
}

/** whatwg-url asks whether something is a SharedArrayBuffer when it is evaluated, and by then there is none. */
const withoutSharedMemory = { SharedArrayBuffer: "ArrayBuffer" };

const replaceUrlEncoding: Plugin = {
  name: "replace-url-encoding",
  setup(build) {
    build.onResolve({ filter: /^\.\/encoding$/ }, ({ importer }) =>
      importer.includes("whatwg-url") ? { path: join(guestDirectory, "web/url/url-encoding.ts") } : undefined,
    );
  },
};

/** What the CommonJS form of a module asks for, without the intrinsics that user code may have replaced by then. */
const moduleHelpers = `
const { defineProperty, keys } = Object;
exports.__export = (target, getters) => {
  const names = keys(getters);
  for (let index = 0; index < names.length; index++)
    defineProperty(target, names[index], { __proto__: null, get: getters[names[index]], enumerable: true });
};
exports.__toCommonJS = (target) => defineProperty(target, "__esModule", { __proto__: null, value: true });
exports.__toESM = (target) => target;
`;

/**
 * Gives lazy modules the form of CommonJS, which the bundler wraps whole. Of ES modules it wraps only the evaluation: their functions would
 * be made for every isolate, and be in every code cache.
 */
const wrapLazyModules: Plugin = {
  name: "wrap-lazy-modules",
  setup(build) {
    // A namespace of their own, since the package says that its files are ES modules.
    build.onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
      const name = relative(guestDirectory, join(resolveDir, path));
      const isLazy = lazyModules.has(name) || name.startsWith("action/") || (name.startsWith("web/") && !eagerModules.has(name));
      return isLazy ? { path: name, namespace: "lazy" } : undefined;
    });
    build.onResolve({ filter: /^module-helpers$/ }, ({ path }) => ({ path, namespace: "module-helpers" }));
    build.onLoad({ filter: /.*/, namespace: "module-helpers" }, () => ({ contents: moduleHelpers, loader: "js" }));
    build.onLoad({ filter: /.*/, namespace: "lazy" }, async ({ path: name }) => {
      const path = join(guestDirectory, name);
      const source = await readFile(path, "utf8");
      const { code } = await build.esbuild.transform(source, { loader: "ts", format: "cjs", target: "esnext", tsconfigRaw: {} });
      return { contents: withModuleHelpers(code), loader: "js", resolveDir: dirname(path) };
    });
  },
};

/** In place of the helpers that the bundler puts at the head of each. */
function withModuleHelpers(code: string): string {
  const last = code.indexOf("var __toCommonJS =");
  if (last < 0) throw new Error(`a module has no helpers at its head, which the bundler is known to put there: ${code.slice(0, 200)}`);
  return `const { __export, __toCommonJS, __toESM } = require("module-helpers");${code.slice(code.indexOf("\n", last))}`;
}

function shareModules(shared: Set<string>): Plugin {
  return {
    name: "share-modules",
    setup(build) {
      build.onResolve({ filter: /^\.\.?\// }, ({ path, importer }) => {
        if (!importer.startsWith(guestDirectory)) return undefined;
        const target = join(dirname(importer), path);
        if (target.startsWith(nodeDirectory) || !target.startsWith(guestDirectory)) return undefined;
        const name = relative(guestDirectory, target);
        shared.add(name);
        return { path: name, namespace: "shared" };
      });
      // Streams decode as the module does, rather than as the package they bring along.
      build.onResolve({ filter: /^string_decoder\/?$/ }, () => ({ path: join(nodeDirectory, "stream/string-decoder.ts") }));
      build.onResolve({ filter: new RegExp(`^${sharedRoot}$`) }, ({ path }) => ({ path, namespace: "shared-root" }));
      build.onLoad({ filter: /.*/, namespace: "shared-root" }, () => ({
        contents: "exports.modules = globalThis.__shared;",
        loader: "js",
      }));
      build.onLoad({ filter: /.*/, namespace: "shared" }, ({ path }) => ({
        contents: `module.exports = require(${JSON.stringify(sharedRoot)}).modules[${JSON.stringify(path)}];`,
        loader: "js",
      }));
    },
  };
}

async function hashInputs(): Promise<string> {
  const entries = await readdir(guestDirectory, { recursive: true });
  const paths = entries
    .filter((name) => name.endsWith(".ts"))
    .sort()
    .map((name) => join(guestDirectory, name));
  const hash = createHash("sha256");
  for (const path of [packagePath, preludePath, import.meta.filename, ...paths])
    hash.update(`${relative(guestDirectory, path)}\0`).update(await readFile(path));
  return hash.digest("hex").slice(0, 16);
}
