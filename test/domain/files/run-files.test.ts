import { describe, expect, it } from "vitest";
import { fileLimits, withChanges, type FileEntry } from "../../../domain/files/run-files.ts";
import { fileChanges } from "../../../domain/files/schemas.ts";

const about = { mode: 0o644, modifiedMs: 1 };
const part = (letter: string, bytes = 1): string => `${letter.repeat(32)}-${bytes}`;
const file = (path: string, letter = "a"): FileEntry => ({ kind: "file", path, bytes: 1, parts: [part(letter)], ...about });
const directory = (path: string): FileEntry => ({ kind: "directory", path, ...about });
const pathsOf = (entries: readonly FileEntry[]): readonly string[] => entries.map(({ path }) => path);

describe("entries after a change", () => {
  it("are those before, without the removed ones and all that was in them, with the new ones", () => {
    const before = [directory("d"), file("d/one"), file("d/two"), file("dd"), file("e")];
    expect(pathsOf(withChanges(before, { removed: ["d"], put: [] }))).toEqual(["dd", "e"]);
    expect(pathsOf(withChanges(before, { removed: ["d"], put: [directory("d"), file("d/three")] }))).toEqual(["d", "d/three", "dd", "e"]);
    expect(withChanges(before, { removed: [], put: [file("e", "b")] })).toContainEqual(file("e", "b"));
    expect(pathsOf(withChanges(before, { removed: ["d/one", "none"], put: [] }))).toEqual(["d", "d/two", "dd", "e"]);
  });

  it("have nothing below a path that another step has made a file, or removed", () => {
    const before = [directory("d"), directory("d/e"), file("d/e/one")];
    const replaced = withChanges(before, { removed: ["d"], put: [file("d")] });
    expect(pathsOf(withChanges(replaced, { removed: [], put: [file("d/e/two")] }))).toEqual(["d"]);
    expect(pathsOf(withChanges([], { removed: [], put: [file("gone/two")] }))).toEqual([]);
  });

  it("are found in time that grows with their number, however deep they are", () => {
    const deep = Array.from({ length: 500 }, (_, depth) => directory(Array.from({ length: depth + 1 }, () => "a").join("/")));
    const wide = Array.from({ length: 500 }, (_, index) => directory(`a${index}`));
    const costOf = (entries: readonly FileEntry[]): number => {
      const before = process.cpuUsage();
      for (let count = 0; count < 50; count++) withChanges(entries, { removed: ["none"], put: entries });
      return process.cpuUsage(before).user;
    };
    costOf(wide);
    // Comparing long paths takes some time as well; building each prefix of each path took two hundred times as long.
    expect(costOf(deep)).toBeLessThan(50 * costOf(wide));
    expect(withChanges(deep, { removed: ["a/a"], put: [] })).toEqual([directory("a")]);
  });

  it("keep names that objects have themselves", () => {
    const entries = [directory("__proto__"), file("__proto__/constructor")];
    expect(withChanges([], { removed: [], put: entries })).toEqual(entries);
  });
});

describe("changes from a sandbox process", () => {
  const isValid = (changes: unknown): boolean => fileChanges.safeParse(changes).success;
  const put = (...entries: readonly unknown[]): unknown => ({ removed: [], put: entries });

  it("have paths below /tmp, and files with as many parts as their size needs", () => {
    expect(isValid(put(file("a/b c/ü.txt"), directory("d")))).toBe(true);
    for (const path of ["", "/a", "a/", "a//b", ".", "..", "a/../b", "a\0b", "\ud800", "x".repeat(fileLimits.pathCharacters + 1)]) {
      expect(isValid(put(file(path))), path).toBe(false);
      expect(isValid({ removed: [path], put: [] }), path).toBe(false);
    }
    expect(isValid(put({ ...file("a"), parts: [] }))).toBe(false);
    expect(isValid(put({ ...file("a"), bytes: 0, parts: [] }))).toBe(true);
    expect(isValid(put({ ...file("a"), bytes: fileLimits.partBytes + 1, parts: [part("a"), part("b")] }))).toBe(true);
    expect(isValid(put({ ...file("a"), bytes: fileLimits.runBytes + 1 }))).toBe(false);
    for (const name of ["a", `${part("a")} `, `${part("a")}.>`, part("*"), part("A"), part("a", 10_000_000)])
      expect(isValid(put({ ...file("a"), parts: [name] })), name).toBe(false);
    for (const mode of [-1, 0o1000, 1.5]) expect(isValid(put({ ...directory("d"), mode })), String(mode)).toBe(false);
  });

  it("are few", () => {
    const many = Array.from({ length: fileLimits.entries + 1 }, (_, index) => directory(`d${index}`));
    expect(isValid(put(...many))).toBe(false);
    expect(isValid(put(...many.slice(1)))).toBe(true);
  });
});
