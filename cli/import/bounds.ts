import { usageFailure, type Failure } from "../failure.ts";

/** Bounds of an export. It may come from anywhere. */
export const bounds = {
  /** Bytes of an archive. */
  archiveBytes: 64 * 1024 * 1024,
  files: 2_000,
  /** Folders within folders. */
  depth: 8,
  /** Bytes of one file, unpacked. */
  fileBytes: 1024 * 1024,
  /** Bytes of all files, unpacked. */
  totalBytes: 32 * 1024 * 1024,
  /** Characters of a path. */
  pathCharacters: 512,
} as const;

/** Files of an export by their path, with `/` between its parts. */
export type ExportFiles = ReadonlyMap<string, Buffer>;

export const refused = (path: string, problem: string): Failure => usageFailure(`${shown(path)} is refused: ${problem}`);

const shown = (path: string): string => JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path).slice(1, -1);

/** Collects files within the bounds. @throws Failure */
export class FilesWithinBounds {
  readonly files = new Map<string, Buffer>();
  /** A file system may take two of them for one. */
  readonly #folded = new Set<string>();
  #bytes = 0;

  /** Checks a file before it is read. @param bytes its size, as the folder or the archive states it */
  admit(path: string, bytes: number): void {
    const problem = pathProblem(path);
    if (problem !== undefined) throw refused(path, problem);
    const folded = path.normalize("NFC").toLowerCase();
    if (this.#folded.has(folded)) throw refused(path, "another file has the same path");
    this.#folded.add(folded);
    if (this.#folded.size > bounds.files) throw refused(path, `an export has at most ${bounds.files} files`);
    if (bytes > bounds.fileBytes) throw refused(path, `it has ${bytes} bytes, a file has at most ${bounds.fileBytes}`);
    this.#bytes += bytes;
    if (this.#bytes > bounds.totalBytes) throw refused(path, `with it the files have more than ${bounds.totalBytes} bytes together`);
  }
}

/** Why a path does not stay within the export. */
export function pathProblem(path: string): string | undefined {
  if (path === "" || path.length > bounds.pathCharacters) return `a path has 1 to ${bounds.pathCharacters} characters`;
  if (/[\p{Cc}\\]/u.test(path)) return "its path has a backslash or a control character";
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return "its path is absolute";
  const parts = path.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) return "its path has an empty part, '.' or '..'";
  return parts.length > bounds.depth ? `folders are at most ${bounds.depth} deep` : undefined;
}
