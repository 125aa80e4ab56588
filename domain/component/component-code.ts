import { InvalidInput, LimitExceeded } from "../errors.ts";
import { isModulePath } from "./module-path.ts";

/** Source code of a component: one module, or an entry and other modules. */
export interface ComponentCode {
  /** Source text of the entry module; `code_hash` covers only this text. */
  readonly code: string;
  /** Path of the entry among `files`, shown in stacks and errors. Default: `component.js`. */
  readonly entry?: string | undefined;
  /** The other modules: path relative to a common root → text. */
  readonly files?: Readonly<Record<string, string>> | undefined;
}

/** Bounds of one component: files besides the entry, and UTF-8 bytes of all its texts. */
export const codeLimits = { files: 200, bytes: 1_048_576 } as const;

/** Default path of the entry. */
export const defaultEntry = "component.js";

/** Total UTF-8 bytes of its texts. */
export function codeBytes({ code, files = {} }: ComponentCode): number {
  const encoder = new TextEncoder();
  return [code, ...Object.values(files)].reduce((sum, text) => sum + encoder.encode(text).length, 0);
}

/**
 * Checks the code of a component, whatever its origin.
 * @throws InvalidInput for invalid paths, LimitExceeded
 */
export function checkComponentCode(
  component: ComponentCode,
  limits: { readonly files: number; readonly bytes: number } = codeLimits,
): void {
  const { entry = defaultEntry, files = {} } = component;
  const paths = Object.keys(files);
  checkFileCount(paths.length, limits.files);
  const wrong = [entry, ...paths].find((path) => !isModulePath(path));
  if (wrong !== undefined) {
    throw new InvalidInput(
      `"${wrong.slice(0, 120)}" is no path of a component's file: it must be relative, such as sources/new-item.mjs, without "." and ".."`,
      { code: "invalid_path" },
    );
  }
  if (Object.hasOwn(files, entry) && files[entry] !== component.code)
    throw new InvalidInput(`the files hold another text under "${entry}", the path of the code itself`, { code: "entry_twice" });
  checkBytes(component, limits.bytes);
}

/** @param files number of files besides the entry @throws LimitExceeded */
export function checkFileCount(files: number, limit: number = codeLimits.files): void {
  if (files <= limit) return;
  throw new LimitExceeded(`the component has ${files} files, ${limit} are allowed: leave out what it does not import`, {
    code: "too_many_files",
    details: { files, limit },
  });
}

function checkBytes(component: ComponentCode, limit: number): void {
  const bytes = codeBytes(component);
  if (bytes <= limit) return;
  const what = Object.keys(component.files ?? {}).length === 0 ? "the code is" : "the code and its files are";
  throw new LimitExceeded(`${what} ${bytes} bytes, ${limit} are allowed: import what it contains from npm, or fetch it at run time`, {
    code: "code_too_large",
    details: { bytes, limit },
  });
}

/** Whether two components have the same code, in any order of files. */
export function isSameCode(a: ComponentCode, b: ComponentCode): boolean {
  return a.code === b.code && identityOf(a) === identityOf(b);
}

/** A string that identifies the code; for a component without files and a path, the code itself. */
export function identityOf({ code, entry = defaultEntry, files = {} }: ComponentCode): string {
  const others = Object.entries(files).filter(([path]) => path !== entry);
  if (others.length === 0 && entry === defaultEntry) return code;
  return JSON.stringify([entry, code, others.sort(([a], [b]) => (a < b ? -1 : 1))]);
}
