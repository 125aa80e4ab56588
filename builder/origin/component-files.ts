import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ListedComponent } from "../../domain/component/package-listing.ts";

/** Files and folders of a package that are looked at. */
const maxEntries = 20_000;
const maxDepth = 8;
const maxListed = 2_000;
/** A component's file; generated code is larger. */
const maxFileBytes = 256 * 1024;
const maxText = 500;

/** Folders with components: at the root of a package, or below the folder with its compiled files. */
const componentFile = /^(?:dist\/)?(sources|actions)\/.+\.(?:mjs|cjs|js|mts|ts)$/;
const notComponents = /(?:^|\/)(?:common|test|tests|__tests__)\/|\.d\.[cm]?ts$|\.test\.[cm]?[jt]s$|(?:^|\/)test-event\.[cm]?[jt]s$/;

/** Paths of all files of a package, without those of packages inside it. */
export async function filesOf(directory: string): Promise<readonly string[]> {
  const found: string[] = [];
  const folders: { readonly path: string; readonly depth: number }[] = [{ path: "", depth: 0 }];
  for (let folder = folders.pop(); folder !== undefined && found.length < maxEntries; folder = folders.pop()) {
    const { path, depth } = folder;
    for (const entry of await readdir(join(directory, path), { withFileTypes: true })) {
      const name = path === "" ? entry.name : `${path}/${entry.name}`;
      if (entry.isFile()) found.push(name);
      else if (entry.isDirectory() && entry.name !== "node_modules" && depth < maxDepth) folders.push({ path: name, depth: depth + 1 });
    }
  }
  return found.slice(0, maxEntries).sort();
}

/**
 * The files of a package that look like components, by their folders: `sources/` and `actions/`. Their texts are searched for names; no code
 * runs.
 */
export async function listComponentFiles(
  directory: string,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<readonly ListedComponent[]> {
  const candidates = paths.filter((path) => componentFile.test(path) && !notComponents.test(path));
  const atRoot = candidates.filter((path) => !path.startsWith("dist/"));
  const chosen = (atRoot.length > 0 ? atRoot : candidates).slice(0, maxListed);
  const listed: ListedComponent[] = [];
  for (const path of chosen) {
    signal.throwIfAborted();
    const component = await readComponent(directory, path);
    if (component !== undefined) listed.push(component);
  }
  return listed;
}

async function readComponent(directory: string, path: string): Promise<ListedComponent | undefined> {
  const file = join(directory, path);
  if ((await stat(file)).size > maxFileBytes) return undefined;
  const text = await readFile(file, "utf8");
  const field = (name: string): string | undefined => literalOf(text, name);
  // Modules beside components export functions and constants.
  if (!/export\s+default|module\.exports|exports\.default|as\s+default/.test(text)) return undefined;
  const key = field("key");
  const name = field("name");
  if (key === undefined && name === undefined) return undefined;
  return {
    address: path,
    type: componentFile.exec(path)?.[1] === "actions" ? "action" : "source",
    name: name ?? key ?? path,
    description: field("description"),
    key,
    version: field("version"),
  };
}

/** The first literal text of a field of that name: of the component itself, whose fields come before those of its props. */
function literalOf(text: string, field: string): string | undefined {
  const [, , value] = new RegExp(`(?:^|[{,\\s])${field}:\\s{0,20}(["'\`])((?:(?!\\1)[^\\\\\\n]|\\\\.){1,${maxText}})\\1`).exec(text) ?? [];
  return value === undefined || value.includes("${") ? undefined : value.replaceAll(/\\(["'`\\])/g, "$1");
}
