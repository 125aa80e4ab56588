import { describe, expect, test } from "vitest";
import { planDependencies } from "../../../builder/npm/dependencies.ts";
import { parseNpmrc } from "../../../builder/npm/config.ts";
import { modulesOf } from "../../../builder/scan/modules.ts";
import { scan } from "../../../builder/scan/scan.ts";
import { parseSpecifier } from "../../../builder/scan/specifier.ts";

const scanned = (code: string, language: "js" | "auto") => scan(modulesOf({ code }), language);

describe("a specifier", () => {
  test.each([
    ["axios", { kind: "package", name: "axios", range: null, subpath: "" }],
    ["axios@1.6", { kind: "package", name: "axios", range: "1.6", subpath: "" }],
    ["lodash@^4/get.js", { kind: "package", name: "lodash", range: "^4", subpath: "/get.js" }],
    ["@scope/x@>=2 <3/sub/path", { kind: "package", name: "@scope/x", range: ">=2 <3", subpath: "/sub/path" }],
    ["@scope/x", { kind: "package", name: "@scope/x", range: null, subpath: "" }],
    ["pkg@next", { kind: "package", name: "pkg", range: "next", subpath: "" }],
    ["fs", { kind: "builtin", name: "fs" }],
    ["node:fs/promises", { kind: "builtin", name: "fs/promises" }],
    ["punycode/", { kind: "package", name: "punycode", range: null, subpath: "/" }],
    ["sqlite", { kind: "package", name: "sqlite", range: null, subpath: "" }],
    ["@pipedream/platform", { kind: "platform", module: "platform" }],
    ["@pipedream/platform@3.0.0", { kind: "platform", module: "platform" }],
    ["@pipedreamhq/platform", { kind: "platform", module: "platform" }],
    ["@pipedream/types", { kind: "platform", module: "types" }],
    ["headwater/types", { kind: "platform", module: "types" }],
    ["headwater/other", { kind: "package", name: "headwater", range: null, subpath: "/other" }],
  ])("%s is parsed", (text, specifier) => {
    expect(parseSpecifier(text)).toEqual(specifier);
  });

  test.each([
    "./x.js",
    "../../../package.json",
    "/etc/passwd",
    ".",
    "..",
    "",
    "C:\\x",
    "file:///etc/passwd",
    "https://example.com/x.js",
    "data:text/javascript,1",
    "blob:x",
    "#internal",
    "node:nothing",
    "x@file:..",
    "x@git+ssh://h/r",
    "x@npm:y",
    "x@./y.tgz",
    "x@y.tgz",
    "x@..",
    "x@~/y",
    "_x",
    ".x",
    "a b",
    "@scope",
    "@/x",
    "x/../../y",
    "node_modules",
  ])("%j is refused", (text) => {
    expect(parseSpecifier(text).kind).toBe("refused");
  });
});

describe("the plan of dependencies", () => {
  const wanted = async (code: string): Promise<unknown> => planDependencies((await scanned(code, "js")).imports).wanted;

  test("does not depend on the order of imports", async () => {
    const imports = ['import "b@1";', 'import "a";', 'import "b@2";', 'import "b";'];
    expect(await wanted(imports.join("\n"))).toEqual(await wanted(imports.toReversed().join("\n")));
  });

  test("gives the plain name to the import without a version and aliases to the others", async () => {
    const plan = await wanted('import "b@1"; import "b"; import "b/sub"; import "@s/c@1"; import "@s/c@2";');
    expect(plan).toMatchObject({ b: "latest", "@s/c": "1" });
    expect(Object.values(plan as object).toSorted()).toEqual(["1", "latest", "npm:@s/c@2", "npm:b@1"]);
  });

  test("includes axios only with the platform package", async () => {
    expect(await wanted('import { defineSource } from "@pipedream/types";')).toEqual({});
    expect(await wanted('import { axios } from "@pipedream/platform";')).toEqual({
      "@headwater/axios": expect.stringMatching(/^npm:axios@/),
    });
  });
});

describe("the scan", () => {
  test("finds every kind of import with its position", async () => {
    const { imports } = await scanned(
      'import a from "a";\nexport { b } from "b";\nconst c = require("c");\nconst d = await import("d");\n',
      "js",
    );
    expect(imports.map(({ text, place }) => [text, place.line, place.column])).toEqual([
      ["a", 1, 15],
      ["b", 2, 19],
      ["c", 3, 19],
      ["d", 4, 24],
    ]);
  });

  test("counts columns in characters", async () => {
    const { imports } = await scanned('/* äöü */ import "a";', "js");
    expect(imports[0]?.place).toEqual({ file: "component.js", line: 1, column: 18 });
  });

  test("distinguishes TypeScript from JavaScript", async () => {
    expect((await scanned("export const a = 1", "auto")).language).toBe("js");
    expect((await scanned("export const a: number = 1", "auto")).language).toBe("ts");
    // Imports that are used only as types are left out.
    expect((await scanned('import type { A } from "a"; export const x = {} as A', "auto")).imports).toEqual([]);
  });
});

test("parses npmrc files as npm does", () => {
  const text = '; comment\nregistry = https://r.test/\n@s:registry="https://s.test/"\n//s.test/:_authToken=${TOKEN}\nstrict-ssl\n';
  expect(parseNpmrc(text, { TOKEN: "t" })).toEqual([
    ["registry", "https://r.test/"],
    ["@s:registry", "https://s.test/"],
    ["//s.test/:_authToken", "t"],
    ["strict-ssl", "true"],
  ]);
});
