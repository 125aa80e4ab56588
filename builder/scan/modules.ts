import { resolve } from "node:path";
import type { Loader, OnLoadResult } from "esbuild";
import { defaultEntry, type ComponentCode } from "../../domain/component/component-code.ts";
import { withPlainRequire } from "./created-require.ts";
import { candidatesOf, extensionOf, joinPath } from "../../domain/component/module-path.ts";

/** The modules of a component by their paths, the entry among them. */
export interface Modules {
  readonly entry: string;
  readonly texts: ReadonlyMap<string, string>;
}

export function modulesOf({ code, entry = defaultEntry, files = {} }: ComponentCode): Modules {
  return { entry, texts: new Map([...Object.entries(files), [entry, code]]) };
}

/** What a relative import of a module leads to. */
export type Resolution =
  | { readonly outcome: "found"; readonly path: string }
  /** With the paths that were looked for. */
  | { readonly outcome: "missing"; readonly tried: readonly string[] }
  | { readonly outcome: "outside" };

export function resolveModule({ texts }: Pick<Modules, "texts">, importer: string, specifier: string): Resolution {
  const path = joinPath(importer, specifier);
  if (path === undefined) return { outcome: "outside" };
  const { files, folder } = candidatesOf(path);
  const tried = [...files, ...folder];
  const found = tried.find((candidate) => texts.has(candidate));
  return found === undefined ? { outcome: "missing", tried } : { outcome: "found", path: found };
}

const loaders: Readonly<Record<string, Loader>> = {
  "": "js",
  ".js": "js",
  ".mjs": "js",
  ".cjs": "js",
  ".jsx": "jsx",
  ".ts": "ts",
  ".mts": "ts",
  ".cts": "ts",
  ".tsx": "tsx",
  ".json": "json",
};

/**
 * Where esbuild believes the component's modules to be. What plugins resolve does not depend on it; two things are read from disk past
 * them, source maps that a comment names and imports whose path is computed: from here they lead to nothing.
 */
const nowhere = `/nowhere${"/component".repeat(64)}`;

/** Whether a relative path leads to nothing from there: one that climbs further may find a file, and errors must not reveal it. */
export const isNowhere = (path: string | undefined): boolean => path !== undefined && resolve(nowhere, path).startsWith("/nowhere/");

/** A module as esbuild gets it. Maps that its comments name are not read: stacks show the code as submitted. */
export function loadModule({ texts }: Pick<Modules, "texts">, path: string, loader: Loader): OnLoadResult {
  const contents = (texts.get(path) ?? "").replaceAll(/([/*])[#@](\s*sourceMappingURL=)/g, "$1 $2");
  return { contents: withPlainRequire(contents), loader, resolveDir: nowhere };
}

/** Whether a path ends as modules do. */
export const isKnownExtension = (path: string): boolean => extensionOf(path) !== "" && extensionOf(path) in loaders;

/** How a module is read that is imported; whatever is no code is imported as its text. */
export function loaderOf(path: string): Loader {
  return loaders[extensionOf(path)] ?? "text";
}
