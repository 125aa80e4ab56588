import { candidatesOf, joinPath } from "../../domain/component/module-path.ts";
import type { Place } from "../scan/code-frame.ts";
import { refuseAt } from "../errors.ts";
import { isKnownExtension } from "../scan/modules.ts";
import type { Fetched, ModuleFetcher } from "./module-fetcher.ts";

interface Wanted {
  readonly importer: Fetched;
  readonly specifier: string;
  readonly place: Place;
}

interface Asked {
  readonly path: string;
  readonly status: number;
}

const maxShown = 6;

/**
 * The module that a relative import names: of the same paths as among a component's files, the first at which a file exists.
 * Likely paths are requested first, about equally likely ones concurrently.
 * @throws InvalidInput `import_not_found`, `import_refused`
 */
export async function locateModule(wanted: Wanted, fetcher: ModuleFetcher): Promise<Fetched> {
  const { importer, specifier } = wanted;
  const path = joinPath(importer.path, specifier);
  if (path === undefined) throw refused(wanted, `import "${specifier}" is refused: it is above the root of the server`);
  const asked: Asked[] = [];
  for (const paths of inOrder(path)) {
    const answers = await Promise.all(paths.map(async (each) => ({ path: each, answer: await fetcher.read(each) })));
    for (const { path: each, answer } of answers) {
      if (answer.outcome === "found") return { path: each, text: answer.text };
      asked.push({ path: each, status: answer.status });
    }
  }
  throw notFound(wanted, asked, fetcher);
}

/** A name with a known extension is nearly always the file's name. */
function inOrder(path: string): readonly (readonly string[])[] {
  const { files, folder } = candidatesOf(path);
  const [exact, ...others] = files;
  if (exact === undefined) return [folder];
  return isKnownExtension(exact) ? [[exact], others, folder] : [files, folder];
}

function notFound(wanted: Wanted, asked: readonly Asked[], { addressOf }: ModuleFetcher): Error {
  const { importer, specifier, place } = wanted;
  const tried = asked.slice(0, maxShown).map(({ path, status }) => `${addressOf(path)} (${status === 200 ? "a web page" : status})`);
  const more = asked.length > maxShown ? ` and ${asked.length - maxShown} more` : "";
  const message = `${addressOf(importer.path)} imports "${specifier}", but no file was found: requested ${tried.join(", ")}${more}`;
  return refuseAt("import_not_found", message, { texts: new Map([[importer.path, importer.text]]) }, place);
}

function refused({ importer, place }: Wanted, message: string): Error {
  return refuseAt("import_refused", message, { texts: new Map([[importer.path, importer.text]]) }, place);
}
