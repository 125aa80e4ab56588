import { z } from "zod";
import { folderOf, foldersUpFrom } from "../../domain/component/module-path.ts";
import { refuse } from "../errors.ts";
import type { Modules } from "./modules.ts";

export const manifestName = "package.json";

const versions = z.record(z.string(), z.string()).optional();
const manifest = z.looseObject({ dependencies: versions, optionalDependencies: versions, peerDependencies: versions });

/** A version as it is written in a package.json. */
export interface Written {
  readonly range: string;
  /** Path of the package.json. */
  readonly file: string;
}

/**
 * The version of a package that the component's own package.json files name for a module: the nearest upward that names the package.
 * @throws InvalidInput `invalid_package_json`
 */
export function manifestRange(modules: Pick<Modules, "texts">, importer: string, name: string): Written | undefined {
  for (const folder of foldersUpFrom(folderOf(importer))) {
    const file = folder === "" ? manifestName : `${folder}/${manifestName}`;
    const text = modules.texts.get(file);
    const range = text === undefined ? undefined : dependenciesIn(file, text).get(name);
    if (range !== undefined) return { range, file };
  }
  return undefined;
}

function dependenciesIn(file: string, text: string): ReadonlyMap<string, string> {
  const parsed = parseManifest(text);
  if (parsed === undefined)
    throw refuse(
      "invalid_package_json",
      `${file} is no package.json: a JSON object whose dependencies are versions by package name is expected`,
    );
  // The later wins: what it depends on goes before what it only could use.
  return new Map([parsed.peerDependencies, parsed.optionalDependencies, parsed.dependencies].flatMap((list) => Object.entries(list ?? {})));
}

function parseManifest(text: string): z.infer<typeof manifest> | undefined {
  try {
    return manifest.safeParse(JSON.parse(text.replace(/^\uFEFF/, ""))).data;
  } catch {
    return undefined;
  }
}

/** Whether a text can serve as package.json. */
export const isManifest = (text: string): boolean => parseManifest(text) !== undefined;
