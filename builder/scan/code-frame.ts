import type { Location } from "esbuild";

/** A place in the user's code: line and column count from 1. */
export interface Place {
  /** Path of the module. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The namespace in which esbuild knows the component's modules; it puts it before their paths. */
export const moduleNamespace = "component";

/** Ends the name of an ES module that its path does not show to be one. No path of a module has this character. */
const esmMark = "\u001f.mjs";

/**
 * esbuild's name of a module. By the end of a name it knows whose default import of a CommonJS package is `module.exports`, as Node has it,
 * and not what such a package calls its default.
 */
export function moduleName(path: string, isEsm: boolean): string {
  return isEsm && !/\.m[jt]s$/i.test(path) ? path + esmMark : path;
}

/** The path of a module of the component, from esbuild's name of it, without the namespace. */
export const pathOfName = (name: string): string => (name.endsWith(esmMark) ? name.slice(0, -esmMark.length) : name);

/** The path of a module of the component, from esbuild's name of a file; undefined for other files. */
export function modulePathOf(file: string): string | undefined {
  return file.startsWith(`${moduleNamespace}:`) ? pathOfName(file.slice(moduleNamespace.length + 1)) : undefined;
}

/** What esbuild says, with paths for names. */
export const plainText = (text: string): string => text.replaceAll(`${moduleNamespace}:`, "").replaceAll(esmMark, "");

/** esbuild counts columns from 0 and in bytes. */
export function placeOf(location: Pick<Location, "file" | "line" | "column" | "lineText">): Place {
  const characters = Buffer.from(location.lineText).subarray(0, location.column).toString().length;
  return { file: modulePathOf(location.file) ?? location.file, line: location.line, column: characters + 1 };
}

/**
 * The line in question with its neighbours and a caret below:
 *
 *       2 | const a = 1
 *     > 3 | const b c
 *         |         ^
 */
export function codeFrame(code: string, { line, column }: Pick<Place, "line" | "column">): string {
  const lines = code.split(/\r\n|\r|\n/);
  const width = String(line + 1).length;
  const frame: string[] = [];
  for (let number = Math.max(1, line - 2); number <= Math.min(lines.length, line + 1); number += 1) {
    const { text, caret } = cut(lines[number - 1] ?? "", number === line ? column : 1);
    frame.push(`${number === line ? ">" : " "} ${String(number).padStart(width)} | ${text}`);
    if (number === line) frame.push(`  ${" ".repeat(width)} | ${" ".repeat(caret - 1)}^`);
  }
  return frame.join("\n");
}

/** Minified code has lines of a megabyte; a frame shows 120 characters of them. */
function cut(text: string, column: number): { text: string; caret: number } {
  const start = column > 100 ? column - 60 : 0;
  return { text: text.slice(start, start + 120).replaceAll("\t", " "), caret: Math.max(1, column - start) };
}
