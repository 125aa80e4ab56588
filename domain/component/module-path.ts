/**
 * Paths of a component's modules: segments joined by `/`, relative to a common root. An import resolves by paths alone, so the same
 * rules hold for uploaded files and for URLs.
 */

/** Extensions of modules, in the order of resolution. */
const extensions = [".mjs", ".js", ".ts", ".mts", ".cjs", ".json"] as const;
/** TypeScript extensions that an import with a JavaScript extension may refer to. */
const typescriptExtensions: Readonly<Record<string, readonly string[]>> = {
  ".js": [".ts", ".tsx"],
  ".mjs": [".mts", ".ts"],
  ".cjs": [".cts", ".ts"],
  ".jsx": [".tsx"],
};
const maxCharacters = 255;

/** Is the path relative, without empty, `.` and `..` segments, and at most 255 characters long? */
export function isModulePath(path: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are refused.
  if (path.length > maxCharacters || /[\\\u0000-\u001f]|^[a-z]:/i.test(path)) return false;
  return path.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..");
}

/** Does the specifier begin with a `.` or `..` segment? */
export function isRelative(specifier: string): boolean {
  return /^\.{1,2}(\/|$)/.test(specifier);
}

/** Resolves a relative import of a module. Undefined if the path is above the root; ends in `/` for a folder. */
export function joinPath(importer: string, specifier: string): string | undefined {
  const segments = importer.split("/").slice(0, -1);
  const written = specifier.replace(/[?#].*$/s, "");
  for (const segment of written.split("/")) {
    if (segment === "..") {
      if (segments.pop() === undefined) return undefined;
    } else if (segment !== "." && segment !== "") segments.push(segment);
  }
  const isFolder = /(^|\/)\.{0,2}$/.test(written);
  return segments.join("/") + (isFolder && segments.length > 0 ? "/" : "");
}

/** The topmost folder on the way of a relative import: `a` for `../../b/d.mjs` in `a/b/c/e.mjs`, although the module is in `a/b`. */
export function topmostFolder(importer: string, specifier: string): string {
  const segments = importer.split("/").slice(0, -1);
  let depth = segments.length;
  let topmost = depth;
  for (const segment of specifier.replace(/[?#].*$/s, "").split("/")) {
    if (segment === "..") depth -= 1;
    else if (segment !== "." && segment !== "") depth += 1;
    topmost = Math.min(topmost, depth);
  }
  return segments.slice(0, Math.max(0, topmost)).join("/");
}

/** Candidate paths of an imported module, in the order of resolution: exact, TypeScript, with an extension, as a folder. */
export function candidatesOf(path: string): { readonly files: readonly string[]; readonly folder: readonly string[] } {
  const folder = path === "" || path.endsWith("/") ? path : `${path}/`;
  const index = extensions.map((extension) => `${folder}index${extension}`);
  if (folder === path) return { files: [], folder: index };
  const extension = extensionOf(path);
  const typed = (typescriptExtensions[extension] ?? []).map((other) => path.slice(0, -extension.length) + other);
  const extended = isModuleExtension(extension) ? [] : extensions.map((other) => path + other);
  return { files: [path, ...typed, ...extended], folder: index };
}

const isModuleExtension = (extension: string): boolean => [...extensions, ".cts", ".jsx", ".tsx"].includes(extension);

/** Lower-case, with the dot; empty without one. */
export function extensionOf(path: string): string {
  return /[^/](\.[^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
}

/** `a/b` of `a/b/c.mjs`; empty at the root. */
export function folderOf(path: string): string {
  return path.split("/").slice(0, -1).join("/");
}

/** The folder itself and all above it, up to the root, which is the empty one. */
export function foldersUpFrom(folder: string): readonly string[] {
  const segments = folder === "" ? [] : folder.split("/");
  return Array.from({ length: segments.length + 1 }, (_, index) => segments.slice(0, segments.length - index).join("/"));
}

/** The deepest folder that contains all paths. */
export function commonFolder(paths: readonly string[]): string {
  const [first = [], ...rest] = paths.map((path) => path.split("/").slice(0, -1));
  const length = first.findIndex((segment, index) => rest.some((other) => other[index] !== segment));
  return first.slice(0, length < 0 ? first.length : length).join("/");
}

/** A path relative to a folder that contains it. */
export function pathFrom(folder: string, path: string): string {
  return folder === "" ? path : path.slice(folder.length + 1);
}
