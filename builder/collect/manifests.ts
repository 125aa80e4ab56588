import { folderOf, foldersUpFrom } from "../../domain/component/module-path.ts";
import { isManifest, manifestName } from "../scan/manifests.ts";
import { parseSpecifier } from "../scan/specifier.ts";
import type { Fetched, ModuleFetcher } from "./module-fetcher.ts";

/**
 * The package.json files beside the modules that import packages without a version, and above them up to the root of the component.
 * Most folders have none, and a file that is not a manifest is no error: no import names it.
 * @param imports paths of modules → what they import that is not relative
 */
export async function findManifests(
  imports: ReadonlyMap<string, readonly string[]>,
  root: string,
  fetcher: ModuleFetcher,
): Promise<readonly Fetched[]> {
  const modules = [...imports].filter(([, texts]) => texts.some(isUnversioned)).map(([path]) => path);
  const folders = modules.flatMap((path) => foldersUpFrom(folderOf(path)).filter((folder) => isWithin(folder, root)));
  const paths = [...new Set(folders)].map((folder) => (folder === "" ? manifestName : `${folder}/${manifestName}`));
  const answers = await Promise.all(paths.map(async (path) => ({ path, answer: await fetcher.read(path) })));
  return answers.flatMap(({ path, answer }) =>
    answer.outcome === "found" && isManifest(answer.text) ? [{ path, text: answer.text }] : [],
  );
}

function isUnversioned(text: string): boolean {
  const specifier = parseSpecifier(text);
  return specifier.kind === "package" && specifier.range === null;
}

const isWithin = (folder: string, root: string): boolean => root === "" || folder === root || folder.startsWith(`${root}/`);
