import type { PathModule, PathParts } from "./path-module.ts";

// Windows paths are only ever text here: the sandbox has no such file system. Same rules as Node's `path.win32`.

const isSlash = (character: string | undefined): boolean => character === "/" || character === "\\";

interface Split {
  /** Drive or share: `C:`, `\\server\share`. */
  readonly device: string;
  readonly absolute: boolean;
  readonly tail: string;
}

function split(path: string): Split {
  const share = /^[\\/]{2}([^\\/]+)[\\/]+([^\\/]+)/.exec(path);
  if (share !== null)
    return {
      device: `\\\\${share[1]}\\${share[2]}`,
      absolute: true,
      tail: path.slice(share[0].length).replace(/^[\\/]+/, ""),
    };
  const drive = /^[A-Za-z]:/.exec(path)?.[0] ?? "";
  const rest = path.slice(drive.length);
  return { device: drive, absolute: isSlash(rest[0]), tail: rest.replace(/^[\\/]+/, "") };
}

function squeeze(tail: string, absolute: boolean): string {
  const kept: string[] = [];
  for (const part of tail.split(/[\\/]+/)) {
    if (part === "" || part === ".") continue;
    if (part !== "..") kept.push(part);
    else if (kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    else if (!absolute) kept.push("..");
  }
  return kept.join("\\");
}

function normalize(path: string): string {
  if (path === "") return ".";
  const { device, absolute, tail } = split(path);
  let body = squeeze(tail, absolute);
  if (body === "" && !absolute) body = ".";
  if (body !== "" && body !== "." && isSlash(path.at(-1))) body += "\\";
  return `${device}${absolute ? "\\" : ""}${body}`;
}

function join(...paths: string[]): string {
  const parts = paths.filter((part) => part !== "");
  const joined = parts.join("\\");
  // Only a share that was written as one stays one: joining `/` and `a` must not make `\\\\a`.
  const isShare = /^[\\/]{2}[^\\/]/.test(parts[0] ?? "");
  return joined === "" ? "." : normalize(isShare ? joined : joined.replace(/^[\\/]{2,}/, "\\"));
}

function resolve(...paths: string[]): string {
  let device = "";
  let tail = "";
  let absolute = false;
  for (const path of [...paths].reverse()) {
    if (path === "" || (device !== "" && absolute)) continue;
    const part = split(path);
    if (part.device !== "" && device !== "" && part.device.toLowerCase() !== device.toLowerCase()) continue;
    if (device === "") ({ device } = part);
    if (absolute) continue;
    tail = `${part.tail}\\${tail}`;
    ({ absolute } = part);
  }
  return `${device}\\${squeeze(tail, true)}`;
}

function relative(from: string, to: string): string {
  const [a, b] = [resolve(from), resolve(to)];
  if (a.toLowerCase() === b.toLowerCase()) return "";
  if (split(a).device.toLowerCase() !== split(b).device.toLowerCase()) return b;
  const [left, right] = [a, b].map((path) => path.split("\\").filter((part) => part !== "")) as [string[], string[]]; // two in, two out
  let same = 0;
  while (same < left.length && left[same]?.toLowerCase() === right[same]?.toLowerCase()) same += 1;
  return [...left.slice(same).map(() => ".."), ...right.slice(same)].join("\\");
}

function parse(path: string): PathParts {
  const { device, absolute, tail } = split(path);
  const root = `${device}${absolute ? path.charAt(device.length) || "\\" : ""}`;
  const trimmed = tail.replace(/[\\/]+$/, "");
  const cut = Math.max(trimmed.lastIndexOf("\\"), trimmed.lastIndexOf("/"));
  const base = trimmed.slice(cut + 1);
  const ext = extension(base);
  return {
    root,
    dir: cut === -1 ? root : root + trimmed.slice(0, cut),
    base,
    ext,
    name: base.slice(0, base.length - ext.length),
  };
}

function extension(base: string): string {
  const dot = base.lastIndexOf(".");
  return dot <= 0 || base === ".." ? "" : base.slice(dot);
}

export const win32: PathModule = {
  sep: "\\",
  delimiter: ";",
  normalize,
  join,
  resolve,
  relative,
  parse,
  isAbsolute: (path) => split(path).absolute,
  basename(path, suffix) {
    if (path === suffix) return "";
    const { base } = parse(path);
    return suffix !== undefined && base !== suffix && base.endsWith(suffix) ? base.slice(0, base.length - suffix.length) : base;
  },
  dirname(path) {
    const { dir, root } = parse(path);
    return dir === "" ? root || "." : dir;
  },
  extname: (path) => parse(path).ext,
  format: ({ dir, root, base, name, ext }) => {
    const file = base ?? `${name ?? ""}${ext === undefined || ext === "" ? "" : ext.startsWith(".") ? ext : `.${ext}`}`;
    const folder = dir ?? root;
    if (folder === undefined || folder === "") return file;
    return folder === root ? `${folder}${file}` : `${folder}\\${file}`;
  },
  toNamespacedPath(path) {
    const whole = typeof path === "string" && path !== "" ? resolve(path) : "";
    if (/^\\\\[^?.]/.test(whole)) return `\\\\?\\UNC\\${whole.slice(2)}`;
    return /^[A-Za-z]:\\/.test(whole) ? `\\\\?\\${whole}` : whole || path;
  },
  matchesGlob: () => false,
};
