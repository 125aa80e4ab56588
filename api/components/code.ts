import { checkFileCount, defaultEntry, type ComponentCode } from "../../domain/component/component-code.ts";
import { isNpmAddress, parseNpmOrigin } from "../../domain/component/npm-origin.ts";
import { InvalidInput, Unavailable } from "../../domain/errors.ts";
import type { ApiPorts } from "../ports.ts";
import type { CodeFields } from "./request.ts";

type WrittenCode = Pick<CodeFields, "component_code" | "component_files" | "component_entry" | "component_url">;

/**
 * Returns the code of a request: `component_code` and `component_files`, or that at `component_url`, which beside the former only
 * documents the origin. Undefined if the request has none.
 * @throws InvalidInput, and what fetching throws
 */
export async function codeOf(
  fields: WrittenCode,
  owner: string,
  { fetchComponent }: Pick<ApiPorts, "fetchComponent">,
): Promise<ComponentCode | undefined> {
  const { component_code: code, component_files: files, component_url: url } = fields;
  const entry = fields.component_entry === undefined ? undefined : plain(fields.component_entry);
  if (code !== undefined) return written(code, entry, files === undefined ? {} : plainPaths(files));
  if (files !== undefined) return fromFiles(plainPaths(files), entry);
  // Checked before a builder is asked.
  if (url !== undefined && isNpmAddress(url)) parseNpmOrigin(url);
  return url === undefined ? undefined : fetchedCode(url, owner, fetchComponent);
}

/** Error codes of the builder for an unreachable address. */
const unreachable: ReadonlySet<string> = new Set(["address_unreachable", "fetch_timeout"]);

/** For the builder, an unreachable address is a temporary failure; for the caller, it is an invalid component_url. */
async function fetchedCode(url: string, owner: string, fetchComponent: ApiPorts["fetchComponent"]): Promise<ComponentCode> {
  try {
    return await fetchComponent(url, owner);
  } catch (error) {
    if (!(error instanceof Unavailable) || !unreachable.has(error.code)) throw error;
    throw new InvalidInput(`component_url: ${error.message}`, { code: error.code, cause: error });
  }
}

function fromFiles(files: Readonly<Record<string, string>>, named: string | undefined): ComponentCode {
  const paths = Object.keys(files);
  const entry = named ?? (paths.length === 1 ? paths[0] : undefined);
  if (entry === undefined)
    throw new InvalidInput("component_entry is missing: it must name the one of component_files that exports the component", {
      code: "entry_missing",
    });
  const code = Object.hasOwn(files, entry) ? files[entry] : undefined;
  if (code === undefined) {
    const some = paths.slice(0, 5).map((path) => path.slice(0, 80));
    throw new InvalidInput(
      `component_entry is "${entry.slice(0, 120)}", which is not among component_files: ${some.join(", ") || "there are none"}${paths.length > some.length ? ", …" : ""}`,
      { code: "entry_not_found" },
    );
  }
  if (code === "") throw new InvalidInput(`the file "${entry.slice(0, 120)}", which component_entry names, is empty`);
  return written(code, entry, files);
}

/** Removes the entry from the files, because its text is `code`. */
function written(code: string, entry: string | undefined, files: Readonly<Record<string, string>>): ComponentCode {
  const others = Object.entries(files).filter(([path, text]) => path !== (entry ?? defaultEntry) || text !== code);
  return {
    code,
    ...(entry === undefined ? {} : { entry }),
    ...(others.length === 0 ? {} : { files: Object.fromEntries(others) }),
  };
}

function plainPaths(files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  // One of them may be the entry.
  checkFileCount(Object.keys(files).length - 1);
  const plainFiles = new Map<string, string>();
  for (const [given, text] of Object.entries(files)) {
    const path = plain(given);
    if (plainFiles.has(path)) throw new InvalidInput(`component_files has "${path.slice(0, 120)}" twice`, { code: "file_twice" });
    plainFiles.set(path, text);
  }
  return Object.fromEntries(plainFiles);
}

/** `./a.mjs` is `a.mjs`. */
const plain = (path: string): string => path.replace(/^(\.\/+)+/, "");
