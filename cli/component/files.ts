import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, extname, isAbsolute, join, posix, relative, resolve, sep } from "node:path";
import { usageFailure } from "../failure.ts";

/** The files of a component, in the form of the API. */
export interface ComponentFiles {
  readonly component_files: Readonly<Record<string, string>>;
  readonly component_entry: string;
  /** Absolute paths of all files, the entry first. */
  readonly paths: readonly string[];
}

/** The API's limit on files; a component with more is refused there, with all details. */
const maxFiles = 500;
export const codeExtensions: readonly string[] = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json"];
/** Paths of relative imports; of a text in a comment as well, which is harmless. */
const relativeImports = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*["'](\.{1,2}\/[^"'\n]+)["']/g;
const packageImports = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*["'](?!\.|node:|headwater\/)[^"'\n]+["']/;

/** Components are code; a YAML file describes a workflow. */
export const isWorkflowFile = (path: string): boolean => /\.ya?ml$/i.test(path);

/** Which files may be read. */
export interface FileScope {
  /** Files below this folder; by default below the project of the entry. */
  readonly root?: string | undefined;
  /** Further rules, for callers who show to others what they send. */
  readonly guard?: FileGuard | undefined;
}

/** Refuses files. `what` names the file in errors. */
export interface FileGuard {
  /** Called before anything about the path is read, also whether it exists. @throws Failure for a path that may not be looked up */
  readonly checkPath: (path: string, what: string) => void;
  /** Called before the file is read, once for each time that it is sent. @throws Failure for a file that may not be sent */
  readonly checkFile: (path: string, what: string) => Promise<void>;
}

/**
 * Reads a file and all that it imports by relative paths. Code of other people may name any file, so one outside the root is an error, also
 * behind a symbolic link. @throws Failure if the entry cannot be read or is a workflow, or if a file is outside the root
 */
export async function collectFiles(entry: string, scope: FileScope = {}): Promise<ComponentFiles> {
  if (isWorkflowFile(entry)) throw usageFailure(`${entry} is a workflow, not a component`, `\`hw deploy ${entry}\` deploys it`);
  const first = resolve(entry);
  const { guard } = scope;
  guard?.checkPath(first, entry);
  const allowed = await realpath(scope.root ?? (await projectOf(first))).catch(() => resolve(scope.root ?? dirname(first)));
  await guard?.checkFile(first, entry);
  await requireBelow(allowed, first, entry);
  const texts = new Map<string, string>([[first, await readEntry(first, entry)]]);
  for (const [path, text] of texts) {
    if (extname(path) === ".json") continue;
    for (const [, specifier = ""] of text.matchAll(relativeImports)) {
      if (texts.size > maxFiles) continue;
      const imported = resolve(dirname(path), specifier);
      const what = `${relative(process.cwd(), path)} imports "${specifier}", and`;
      guard?.checkPath(imported, `${what} ${imported}`);
      const found = await findImport(imported, texts);
      if (found === undefined) continue;
      await guard?.checkFile(found, `${what} ${found}`);
      await requireBelow(allowed, found, `${what} ${found}`);
      texts.set(found, await readFile(found, "utf8"));
    }
  }
  const root = commonFolder([...texts.keys()]);
  const needsManifest = [...texts.values()].some((text) => packageImports.test(text));
  const manifest = needsManifest ? await readManifest(dirname(first), root, { allowed, guard }) : undefined;
  const manifestPath = manifest === undefined ? {} : { [pathBelow(root, manifest.path)]: manifest.text };
  return {
    component_files: { ...Object.fromEntries([...texts].map(([path, text]) => [pathBelow(root, path), text])), ...manifestPath },
    component_entry: pathBelow(root, first),
    paths: [...texts.keys()],
  };
}

/** The folder of the nearest package.json or repository above a file, otherwise that of the file. */
export async function projectOf(file: string): Promise<string> {
  const own = dirname(await realpath(file).catch(() => resolve(file)));
  for (let folder = own; ; folder = dirname(folder)) {
    const [manifest, repository] = await Promise.all([exists(join(folder, "package.json")), exists(join(folder, ".git"))]);
    if (manifest || repository) return folder;
    if (dirname(folder) === folder) return own;
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Whether a path is below a folder, by its name alone. */
export function isBelow(folder: string, path: string): boolean {
  const below = relative(folder, path);
  return below.split(sep)[0] !== ".." && !isAbsolute(below);
}

/** @throws Failure for a file outside the folder */
async function requireBelow(folder: string, path: string, what: string): Promise<void> {
  const real = await realpath(path).catch(() => path); // A missing file is reported where it is read.
  if (isBelow(folder, real)) return;
  throw usageFailure(`${what} is outside ${folder}`, "--root FOLDER sends files below another folder: name one that holds all");
}

async function readEntry(path: string, asGiven: string): Promise<string> {
  return readFile(path, "utf8").catch((error: unknown) => {
    throw usageFailure(`${asGiven} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  });
}

/** The file of an import, which may lack its extension, have that of compiled code, or be a folder; undefined: the builder reports it. */
async function findImport(path: string, known: ReadonlyMap<string, string>): Promise<string | undefined> {
  const source = path.replace(/\.([mc]?)js$/, ".$1ts");
  const candidates = [path, source, ...codeExtensions.map((extension) => path + extension)];
  const inFolder = codeExtensions.map((extension) => join(path, `index${extension}`));
  for (const candidate of [...candidates, ...inFolder]) {
    if (known.has(candidate)) return undefined;
    if (await isFile(candidate)) return candidate;
  }
  return undefined;
}

/** A folder may have the name of a source. */
export const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );

/** Versions of packages from the nearest package.json that may be read, without its other fields. */
async function readManifest(
  folder: string,
  root: string,
  { allowed, guard }: Pick<FileScope, "guard"> & { readonly allowed: string },
): Promise<{ path: string; text: string } | undefined> {
  for (let current = folder; ; current = dirname(current)) {
    const path = join(current, "package.json");
    const hasManifest = await isFile(path);
    if (hasManifest) {
      await guard?.checkFile(path, path);
      await requireBelow(allowed, path, path);
    }
    const text = hasManifest ? await readFile(path, "utf8").catch(() => undefined) : undefined;
    if (text !== undefined) return dependenciesOf(text, current.startsWith(root) ? path : join(root, "package.json"));
    if (dirname(current) === current || (await realpath(current)) === allowed) return undefined;
  }
}

function dependenciesOf(text: string, path: string): { path: string; text: string } | undefined {
  try {
    const { dependencies } = JSON.parse(text) as { readonly dependencies?: Readonly<Record<string, string>> }; // The builder checks it.
    return dependencies === undefined ? undefined : { path, text: JSON.stringify({ dependencies }) };
  } catch {
    return undefined;
  }
}

function commonFolder(paths: readonly string[]): string {
  const [first = [], ...others] = paths.map((path) => dirname(path).split(sep));
  let length = first.length;
  for (const parts of others) while (!startsWith(parts, first.slice(0, length))) length--;
  return first.slice(0, length).join(sep) || sep;
}

const startsWith = (parts: readonly string[], beginning: readonly string[]): boolean =>
  beginning.every((part, index) => parts[index] === part);

const pathBelow = (root: string, path: string): string => relative(root, path).split(sep).join(posix.sep);
