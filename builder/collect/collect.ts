import { setTimeout as pause } from "node:timers/promises";
import type { ComponentCode } from "../../domain/component/component-code.ts";
import { InvalidInput, Unavailable } from "../../domain/errors.ts";
import { commonFolder, isRelative, pathFrom, topmostFolder } from "../../domain/component/module-path.ts";
import type { Place } from "../scan/code-frame.ts";
import type { EsbuildLane } from "../bundle/esbuild-lane.ts";
import { loaderOf } from "../scan/modules.ts";
import type { Addresses } from "../ports.ts";
import { listImports } from "../scan/scan.ts";
import type { CollectLimits } from "./limits.ts";
import { locateModule } from "./locate.ts";
import { findManifests } from "./manifests.ts";
import { createModuleFetcher, isWebPage, tooMuch, type Fetched, type ModuleFetcher } from "./module-fetcher.ts";
import { rawAddress } from "./raw-address.ts";

export interface CollectParts {
  readonly addresses: Addresses;
  readonly esbuild: EsbuildLane;
  /** The owner in the queue of esbuild. */
  readonly owner: string;
  readonly scanMs: number;
  readonly limits: CollectLimits;
}

interface RelativeImport {
  readonly importer: Fetched;
  readonly specifier: string;
  readonly place: Place;
}

/** The files of the component found so far. */
interface Collection {
  /** Of modules and package.json files, by path on the server. */
  readonly texts: Map<string, string>;
  /** Modules that import packages without naming a version. */
  readonly unversioned: Map<string, readonly string[]>;
  /** Folders on the paths of imports: a path may leave the common folder and enter it again by name (`../mods/app.mjs`). */
  readonly passed: Set<string>;
}

/**
 * Fetches the component at an address: its entry and all modules imported by relative paths. Their paths are relative to the deepest
 * folder that contains all of them and that no import leaves. The builder does it, because only it parses hostile code. A module's path comes
 * from the requested URL; only redirects of the entry move the base folder of relative imports. Paths and messages omit queries and fragments,
 * which may contain a token.
 * @throws InvalidInput `import_not_found` with the importing file and the addresses that were asked, `syntax_error`; Forbidden; LimitExceeded; Unavailable
 */
export async function collect(address: string, parts: CollectParts): Promise<ComponentCode> {
  const stopping = new AbortController();
  const { totalMs } = parts.limits;
  const late = pause(totalMs, undefined, { signal: stopping.signal }).then(() => {
    throw new Unavailable(`fetching the component took longer than ${totalMs / 1_000} s: try again, or send its files`, {
      code: "fetch_timeout",
    });
  });
  try {
    return await Promise.race([late, collectAll(address, parts, stopping.signal)]);
  } finally {
    late.catch(() => undefined);
    stopping.abort();
  }
}

async function collectAll(address: string, parts: CollectParts, signal: AbortSignal): Promise<ComponentCode> {
  const { addresses, limits } = parts;
  const { entry, origin } = await readEntry(address, addresses, signal);
  const fetcher = createModuleFetcher({ addresses, origin, entry, limits, signal });
  const collection: Collection = { texts: new Map([[entry.path, entry.text]]), unversioned: new Map(), passed: new Set() };
  let level: readonly Fetched[] = [entry];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limits.depth) throw tooMuch(`imports are more than ${limits.depth} deep, down to ${level[0]?.path ?? ""}`);
    level = await collectImports(level, collection, fetcher, parts);
  }
  const root = rootOf(collection);
  for (const { path, text } of await findManifests(collection.unversioned, root, fetcher)) keep(collection, path, text, limits);
  return asComponent(entry, root, collection);
}

function rootOf({ texts, passed }: Collection): string {
  return commonFolder([...texts.keys(), ...[...passed].map((folder) => (folder === "" ? "." : `${folder}/.`))]);
}

async function readEntry(address: string, addresses: Addresses, signal: AbortSignal): Promise<{ entry: Fetched; origin: string }> {
  const found = await addresses.read(rawAddress(address), signal);
  const { origin, pathname } = new URL(found.outcome === "found" ? found.url : rawAddress(address));
  if (found.outcome === "missing")
    throw new InvalidInput(`${origin}${pathname} responded with ${found.status}: use an address of a component's code`, {
      code: "component_not_found",
    });
  if (isWebPage(found.text))
    throw new InvalidInput(`${origin}${pathname} responded with a web page: use the address of the code itself, such as a "raw" link`, {
      code: "component_not_found",
    });
  return { entry: { path: pathOf(pathname), text: found.text }, origin };
}

/** An entry at the root of a server, or in a folder of it, has no name of its own. */
function pathOf(pathname: string): string {
  const path = decode(pathname.slice(1));
  return path === "" || path.endsWith("/") ? `${path}index.js` : path;
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Fetches the imports of modules. @returns the modules that are new */
async function collectImports(
  level: readonly Fetched[],
  collection: Collection,
  fetcher: ModuleFetcher,
  parts: CollectParts,
): Promise<readonly Fetched[]> {
  const imports: RelativeImport[] = [];
  for (const module of level) imports.push(...(await readImports(module, collection, parts)));
  const found = await Promise.all(imports.map(({ importer, specifier, place }) => locateModule({ importer, specifier, place }, fetcher)));
  return found.filter(({ path, text }) => keep(collection, path, text, parts.limits));
}

async function readImports(module: Fetched, { unversioned, passed }: Collection, parts: CollectParts): Promise<readonly RelativeImport[]> {
  const loader = loaderOf(module.path);
  if (loader === "json" || loader === "text") return [];
  const imports = await parts.esbuild.run(parts.owner, () => listImports(module.path, module.text), parts.scanMs);
  const others = imports.filter(({ text }) => !isRelative(text)).map(({ text }) => text);
  if (others.length > 0) unversioned.set(module.path, others);
  const relative = imports.filter(({ text }) => isRelative(text));
  for (const { text } of relative) passed.add(topmostFolder(module.path, text));
  return relative.map(({ text, place }) => ({ importer: module, specifier: text, place }));
}

/** @returns false if it was already added */
function keep({ texts }: Collection, path: string, text: string, limits: CollectLimits): boolean {
  if (texts.has(path)) return false;
  texts.set(path, text);
  if (texts.size - 1 > limits.files) throw tooMuch(`it has more than ${limits.files} files beside the entry`);
  const bytes = [...texts.values()].reduce((sum, each) => sum + Buffer.byteLength(each), 0);
  if (bytes > limits.bytes) throw tooMuch(`its files together have more than ${limits.bytes} bytes`);
  return true;
}

function asComponent(entry: Fetched, root: string, { texts, passed }: Collection): ComponentCode {
  const others = [...texts].filter(([path]) => path !== entry.path).sort(([a], [b]) => (a < b ? -1 : 1));
  // Without relative imports it needs no path, and is the same component as its text sent by itself.
  if (others.length === 0 && passed.size === 0) return { code: entry.text };
  const files = Object.fromEntries(others.map(([path, text]) => [pathFrom(root, path), text]));
  return { code: entry.text, entry: pathFrom(root, entry.path), files };
}
