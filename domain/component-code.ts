import { InvalidInput, LimitExceeded } from "./errors.ts";
import { isModulePath } from "./module-path.ts";

/** A component as its author wrote it: one module, or an entry and the modules beside it. */
export interface ComponentCode {
  /** Text of the entry module; `code_hash` is of this text alone. */
  readonly code: string;
  /** Path of the entry among `files`, by which stacks and errors name it; `component.js` without one. */
  readonly entry?: string | undefined;
  /** The other modules: path relative to a common root → text. */
  readonly files?: Readonly<Record<string, string>> | undefined;
}

/** Of one component: files beside the entry, and bytes of UTF-8 of all its texts together. */
export const codeLimits = { files: 200, bytes: 1_048_576 } as const;

/** The path of an entry that has none of its own. */
export const defaultEntry = "component.js";

/** Bytes of UTF-8 of all its texts together. */
export function codeBytes({ code, files = {} }: ComponentCode): number {
  const encoder = new TextEncoder();
  return [code, ...Object.values(files)].reduce((sum, text) => sum + encoder.encode(text).length, 0);
}

/**
 * What holds for the code of every component, however it came here.
 * @throws InvalidInput for paths that are none, LimitExceeded
 */
export function checkComponentCode(
  component: ComponentCode,
  limits: { readonly files: number; readonly bytes: number } = codeLimits,
): void {
  const { entry = defaultEntry, files = {} } = component;
  const paths = Object.keys(files);
  if (paths.length > limits.files) {
    throw new LimitExceeded(`the component has ${paths.length} files, ${limits.files} are allowed: leave out what it does not import`, {
      code: "too_many_files",
      details: { files: paths.length, limit: limits.files },
    });
  }
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

function checkBytes(component: ComponentCode, limit: number): void {
  const bytes = codeBytes(component);
  if (bytes <= limit) return;
  const what = Object.keys(component.files ?? {}).length === 0 ? "the code is" : "the code and its files are";
  throw new LimitExceeded(`${what} ${bytes} bytes, ${limit} are allowed: import what it contains from npm, or fetch it at run time`, {
    code: "code_too_large",
    details: { bytes, limit },
  });
}

/** Whether two components are written alike, whatever the order of their files. */
export function isSameCode(a: ComponentCode, b: ComponentCode): boolean {
  return a.code === b.code && identityOf(a) === identityOf(b);
}

/** A text that only components written alike have; of one without files and a path it is the code itself. */
export function identityOf({ code, entry = defaultEntry, files = {} }: ComponentCode): string {
  const others = Object.entries(files).filter(([path]) => path !== entry);
  if (others.length === 0 && entry === defaultEntry) return code;
  return JSON.stringify([entry, code, others.sort(([a], [b]) => (a < b ? -1 : 1))]);
}
