import { invalidArgument } from "../errors.ts";
import type { PathModule, PathParts } from "./path-module.ts";
import { win32 } from "./path-win32.ts";

const workingDirectory = "/tmp";

function checked(path: unknown, name = "path"): string {
  if (typeof path !== "string") throw invalidArgument(name, "of type string", path);
  return path;
}

function squeeze(path: string, absolute: boolean): string {
  const kept: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") kept.push(part);
    else if (kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    else if (!absolute) kept.push("..");
  }
  return kept.join("/");
}

function normalize(given: string): string {
  const path = checked(given);
  if (path === "") return ".";
  const absolute = path.startsWith("/");
  let body = squeeze(path, absolute);
  if (body === "") return absolute ? "/" : path.endsWith("/") ? "./" : ".";
  if (path.endsWith("/")) body += "/";
  return absolute ? `/${body}` : body;
}

function join(...paths: string[]): string {
  const joined = paths.filter((path) => checked(path) !== "").join("/");
  return joined === "" ? "." : normalize(joined);
}

/** Relative paths start at /tmp, the only directory that can be written. */
function resolve(...paths: string[]): string {
  let result = "";
  for (const path of [...paths].reverse()) {
    if (checked(path, "paths[0]") === "") continue;
    result = result === "" ? path : `${path}/${result}`;
    if (path.startsWith("/")) return `/${squeeze(result, true)}`;
  }
  return `/${squeeze(`${workingDirectory}/${result}`, true)}`;
}

function relative(from: string, to: string): string {
  const [left, right] = [resolve(checked(from, "from")), resolve(checked(to, "to"))].map((path) =>
    path.split("/").filter((part) => part !== ""),
  ) as [string[], string[]]; // two in, two out
  let same = 0;
  while (same < left.length && same < right.length && left[same] === right[same]) same += 1;
  return [...left.slice(same).map(() => ".."), ...right.slice(same)].join("/");
}

function extensionOf(base: string): string {
  const dot = base.lastIndexOf(".");
  return dot <= 0 || base === ".." ? "" : base.slice(dot);
}

function dirname(given: string): string {
  const path = checked(given);
  if (path === "") return ".";
  const trimmed = path.replace(/(?<=.)\/+$/, "");
  const cut = trimmed.lastIndexOf("/");
  if (cut === -1) return ".";
  if (cut === 0) return "/";
  return cut === 1 && trimmed.startsWith("//") ? "//" : trimmed.slice(0, cut);
}

function basename(given: string, suffix?: string): string {
  if (suffix !== undefined && given === suffix) return "";
  const path = checked(given).replace(/\/+$/, "");
  const base = path.slice(path.lastIndexOf("/") + 1);
  if (suffix === undefined || base === checked(suffix, "suffix") || !base.endsWith(suffix)) return base;
  return base.slice(0, base.length - suffix.length);
}

function parse(path: string): PathParts {
  const root = checked(path).startsWith("/") ? "/" : "";
  const base = basename(path);
  const ext = extensionOf(base);
  const parent = base === "" ? root : dirname(path);
  const hasFolder = path.replace(/\/+$/, "").includes("/");
  return {
    root,
    dir: parent === "." && !hasFolder ? "" : parent,
    base,
    ext,
    name: base.slice(0, base.length - ext.length),
  };
}

function format(parts: Partial<PathParts>): string {
  if (typeof parts !== "object" || parts === null) throw invalidArgument("pathObject", "of type object", parts);
  const { dir, root, base, name, ext } = parts;
  const extension = ext === undefined || ext === "" || ext.startsWith(".") ? (ext ?? "") : `.${ext}`;
  const file = base || `${name ?? ""}${extension}`;
  const folder = dir || root;
  if (folder === undefined || folder === "") return file;
  return folder === root ? `${folder}${file}` : `${folder}/${file}`;
}

/** `*`, `?`, `**`, `{a,b}` and `[…]`, as `path.matchesGlob` takes them. */
function matchesGlob(path: string, pattern: string): boolean {
  const source = pattern.replace(/\*\*\/|\*\*|\*|\?|\{[^}]*\}|\[[^\]]*\]|[.+^$()|\\]/g, (part) => {
    if (part === "**/") return "(?:.*/)?";
    if (part === "**") return ".*";
    if (part === "*") return "[^/]*";
    if (part === "?") return "[^/]";
    if (part.startsWith("{"))
      return `(?:${part
        .slice(1, -1)
        .split(",")
        .map((choice) => choice.replace(/[.+^$()|\\*?]/g, "\\$&"))
        .join("|")})`;
    return part.startsWith("[") ? part.replace(/^\[!/, "[^") : `\\${part}`;
  });
  return new RegExp(`^${source}$`).test(path);
}

const posix: PathModule = {
  sep: "/",
  delimiter: ":",
  normalize,
  join,
  resolve,
  relative,
  parse,
  format,
  basename,
  dirname,
  matchesGlob,
  isAbsolute: (path) => checked(path).startsWith("/"),
  extname: (path) => extensionOf(basename(path)),
  toNamespacedPath: (path) => path,
};
for (const module of [posix, win32]) Object.assign(module, { posix, win32, _makeLong: module.toNamespacedPath });

/** `node:path`: the POSIX rules. */
export default posix;
