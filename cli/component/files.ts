import { readFile } from "node:fs/promises";
import { dirname, extname, join, posix, relative, resolve, sep } from "node:path";
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
const codeExtensions = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json"];
/** Paths of relative imports; of a text in a comment as well, which is harmless. */
const relativeImports = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*["'](\.{1,2}\/[^"'\n]+)["']/g;
const packageImports = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*["'](?!\.|node:|headwater\/)[^"'\n]+["']/;

/** Components are code; a YAML file describes a workflow. */
export const isWorkflowFile = (path: string): boolean => /\.ya?ml$/i.test(path);

/** Reads a file and all that it imports by relative paths. @throws Failure if the entry cannot be read, or is a workflow */
export async function collectFiles(entry: string): Promise<ComponentFiles> {
  if (isWorkflowFile(entry)) throw usageFailure(`${entry} is a workflow, not a component`, `\`hw deploy ${entry}\` deploys it`);
  const first = resolve(entry);
  const texts = new Map<string, string>([[first, await readEntry(first, entry)]]);
  for (const [path, text] of texts) {
    if (extname(path) === ".json") continue;
    for (const [, specifier = ""] of text.matchAll(relativeImports)) {
      const found = texts.size > maxFiles ? undefined : await readImport(resolve(dirname(path), specifier), texts);
      if (found !== undefined) texts.set(found.path, found.text);
    }
  }
  const root = commonFolder([...texts.keys()]);
  const manifest = [...texts.values()].some((text) => packageImports.test(text)) ? await readManifest(dirname(first), root) : undefined;
  const manifestPath = manifest === undefined ? {} : { [pathBelow(root, manifest.path)]: manifest.text };
  return {
    component_files: { ...Object.fromEntries([...texts].map(([path, text]) => [pathBelow(root, path), text])), ...manifestPath },
    component_entry: pathBelow(root, first),
    paths: [...texts.keys()],
  };
}

async function readEntry(path: string, asGiven: string): Promise<string> {
  return readFile(path, "utf8").catch((error: unknown) => {
    throw usageFailure(`${asGiven} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  });
}

/** The file of an import, which may lack its extension, have that of compiled code, or be a folder; undefined: the builder reports it. */
async function readImport(path: string, known: ReadonlyMap<string, string>): Promise<{ path: string; text: string } | undefined> {
  const source = path.replace(/\.([mc]?)js$/, ".$1ts");
  const candidates = [path, source, ...codeExtensions.map((extension) => path + extension)];
  const inFolder = codeExtensions.map((extension) => join(path, `index${extension}`));
  for (const candidate of [...candidates, ...inFolder]) {
    if (known.has(candidate)) return undefined;
    const text = await readFile(candidate, "utf8").catch(() => undefined);
    if (text !== undefined) return { path: candidate, text };
  }
  return undefined;
}

/** Versions of packages from the nearest package.json, without its other fields. */
async function readManifest(folder: string, root: string): Promise<{ path: string; text: string } | undefined> {
  for (let current = folder; ; current = dirname(current)) {
    const path = join(current, "package.json");
    const text = await readFile(path, "utf8").catch(() => undefined);
    if (text !== undefined) return dependenciesOf(text, current.startsWith(root) ? path : join(root, "package.json"));
    if (dirname(current) === current) return undefined;
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
