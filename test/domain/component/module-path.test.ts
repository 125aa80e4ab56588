import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkComponentCode, identityOf, isSameCode } from "../../../domain/component/component-code.ts";
import {
  candidatesOf,
  commonFolder,
  foldersUpFrom,
  isModulePath,
  isRelative,
  joinPath,
  pathFrom,
  topmostFolder,
} from "../../../domain/component/module-path.ts";

const name = fc.stringMatching(/^[a-z]{1,3}$/);
const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((segments) => segments.join("/"));

describe("a module path", () => {
  test.each(["a.mjs", "sources/new item/ü.mjs", "a/b/c", "..a/b...", "@scope/a"])("accepts %s", (text) => {
    expect(isModulePath(text)).toBe(true);
  });

  test.each(["", "/a", "a/", "a//b", "./a", "a/./b", "../a", "a/..", "a\\b", "a\0b", "C:/a", "a".repeat(256)])("rejects %j", (text) => {
    expect(isModulePath(text)).toBe(false);
  });
});

describe("a relative import", () => {
  test.each([
    ["a.mjs", "./b.mjs", "b.mjs"],
    ["a/b/c.mjs", "../../d.mjs", "d.mjs"],
    ["a/b/c.mjs", "../../../d.mjs", undefined],
    ["a.mjs", "..", undefined],
    ["a/b.mjs", ".", "a/"],
    ["a/b.mjs", "..", ""],
    ["a/b.mjs", "./c/", "a/c/"],
    ["a.mjs", "./b.mjs?x=1#y", "b.mjs"],
    ["a.mjs", ".//b/./c.mjs", "b/c.mjs"],
  ])("from %s of %s resolves to %s", (importer, specifier, expected) => {
    expect(isRelative(specifier)).toBe(true);
    expect(joinPath(importer, specifier)).toBe(expected);
  });

  test.each([
    ["a/b/c/e.mjs", "../../b/d.mjs", "a"],
    ["a/b.mjs", "./c.mjs", "a"],
    ["a/b.mjs", "../a/c.mjs", ""],
    ["a/b.mjs", "./c/../../a/d.mjs?x=../..", ""],
    ["a.mjs", "../b.mjs", ""],
  ])("from %s of %s has the topmost folder %j", (importer, specifier, folder) => {
    expect(topmostFolder(importer, specifier)).toBe(folder);
  });

  /** Oracle: resolution by the URL standard, except above the root. */
  test("resolves like a URL, and never above the root", () => {
    const specifier = fc
      .tuple(fc.integer({ min: 0, max: 6 }), path)
      .map(([up, rest]) => (up === 0 ? `./${rest}` : "../".repeat(up) + rest));
    fc.assert(
      fc.property(path, specifier, (importer, text) => {
        const depth = importer.split("/").length - 1;
        const climbs = text.split("../").length - 1;
        const expected = climbs > depth ? undefined : new URL(text, `https://h.test/${importer}`).pathname.slice(1);
        expect(joinPath(importer, text)).toBe(expected);
      }),
    );
  });

  test("is tried unchanged, then as TypeScript, with extensions, and as a folder", () => {
    expect(candidatesOf("a/b")).toEqual({
      files: ["a/b", "a/b.mjs", "a/b.js", "a/b.ts", "a/b.mts", "a/b.cjs", "a/b.json"],
      folder: ["a/b/index.mjs", "a/b/index.js", "a/b/index.ts", "a/b/index.mts", "a/b/index.cjs", "a/b/index.json"],
    });
    expect(candidatesOf("x.app").files.slice(0, 2)).toEqual(["x.app", "x.app.mjs"]);
    expect(candidatesOf("a.js").files).toEqual(["a.js", "a.ts", "a.tsx"]);
    expect(candidatesOf("a.mjs").files).toEqual(["a.mjs", "a.mts", "a.ts"]);
    expect(candidatesOf("a/").files).toEqual([]);
    expect(candidatesOf("").folder[0]).toBe("index.mjs");
  });
});

test("every path is below the common folder, and resolves from there", () => {
  fc.assert(
    fc.property(fc.array(path, { minLength: 1, maxLength: 6 }), (paths) => {
      const root = commonFolder(paths);
      for (const each of paths) {
        expect(foldersUpFrom(each.split("/").slice(0, -1).join("/"))).toContain(root);
        expect(root === "" ? pathFrom(root, each) : `${root}/${pathFrom(root, each)}`).toBe(each);
      }
    }),
  );
});

describe("the code of a component", () => {
  const files = { "a.mjs": "1", "b/c.json": "2" };

  test("is the same in any order of its files, and differs with another text, path or entry", () => {
    const component = { code: "x", entry: "m.mjs", files };
    expect(isSameCode(component, { ...component, files: { "b/c.json": "2", "a.mjs": "1" } })).toBe(true);
    expect(isSameCode(component, { ...component, files: { ...files, "m.mjs": "x" } })).toBe(true);
    for (const other of [
      { ...component, code: "y" },
      { ...component, entry: "n.mjs" },
      { ...component, files: { "a.mjs": "1" } },
      { ...component, files: { "a.mjs": "2", "b/c.json": "1" } },
    ])
      expect(isSameCode(component, other)).toBe(false);
    expect(identityOf({ code: "x" })).toBe("x");
    expect(identityOf({ code: "x", files: {} })).toBe("x");
  });

  test.each([
    [{ code: "x", files: { "../a": "" } }, 422, '"../a" is no path of a component\'s file'],
    [{ code: "x", entry: "/a" }, 422, '"/a" is no path of a component\'s file'],
    [{ code: "x", files: { "component.js": "y" } }, 422, 'another text under "component.js"'],
    [{ code: "x".repeat(1_048_576), files: { a: "y" } }, 413, "the code and its files are 1048577 bytes, 1048576 are allowed"],
    [
      { code: "x", files: Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`${n}.js`, ""])) },
      413,
      "has 201 files, 200 are allowed",
    ],
  ])("is refused when it is invalid: %#", (component, status, message) => {
    expect(() => checkComponentCode(component)).toThrow(expect.objectContaining({ status, message: expect.stringContaining(message) }));
  });

  test("may have files with the names of Object's properties", () => {
    expect(() => checkComponentCode({ code: "x", entry: "constructor", files: { toString: "y" } })).not.toThrow();
  });
});
